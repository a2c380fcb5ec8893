package main

import (
	"maps"
	"slices"
	"strings"
)

// sleeps lists the functions in test code that may sleep, each with the reason.
var sleeps = map[string]string{
	"web/browser/hands.go touch.Slide":      "a finger that rests before it is lifted does not fling",
	"web/browser/drag.go Tab.Swipe":         "a finger that rests before it is lifted does not fling",
	"web/browser/keyboard.go keyboard.goTo": "the pace of a loop that looks for a state",
}

// testsDoNotSleep: tests wait until a condition holds, not for a fixed time. In a synctest bubble
// they use fixture.Pass.
var testsDoNotSleep = guard{
	name: "TestsDoNotSleep", least: 300,
	reads: func(s *source) bool { return s.test() || s.ext() == ".go" && s.among("web/browser", "web/webtest") },
	check: func(files []*source) (list []finding) {
		for _, s := range files {
			unused := map[string]bool{}
			for key := range sleeps {
				unused[key] = strings.HasPrefix(key, s.name+" ")
			}
			for _, use := range s.uses {
				if use.text != "time.Sleep" {
					continue
				}
				if key := s.name + " " + use.in; sleeps[key] != "" {
					unused[key] = false
					continue
				}
				list = append(list, s.finds(use.line, "time.Sleep in a test",
					"a wait for a state, or fixture.Pass in a bubble"))
			}
			for _, key := range slices.Sorted(maps.Keys(unused)) {
				if unused[key] {
					list = append(list, s.finds(1, "no time.Sleep for the exception "+key, "the exception removed"))
				}
			}
		}
		return list
	},
	examples: []guardExample{
		{1, code("web/a_test.go", `import "time"; func f() { time.Sleep(time.Second) }`)},
		{1, code("web/webtest/a.go", `import t "time"; var pause = t.Sleep`)},
		{1, code("web/browser/hands.go", `import "time"; func (touch) Slide() { time.Sleep(1) }; var f = time.Sleep`)},
		{1, code("web/browser/hands.go", `func (f touch) Slide() {}`)},
		{0, code("web/browser/hands.go", `import "time"; func (f *touch) Slide() { time.Sleep(1) }`)},
		{0, code("web/load/a.go", `import "time"; func f() { time.Sleep(time.Second) }`)},
	},
}
