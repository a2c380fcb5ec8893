package main

import (
	"maps"
	"slices"
	"strings"
)

// spending lists the packages that tests use to open pages, start servers or compute tokens.
var spending = []string{
	module + "/infer/testmodel", module + "/infer/bundled", module + "/web/browser", module + "/web/webtest",
	module + "/web/journal/stream/streamtest",
}

// checksBudget are the functions that check a budget; a TestMain must call one of them.
var checksBudget = []string{
	module + "/infer/fixture.Run", module + "/infer/fixture.Suite", module + "/web/browser.Main",
	module + "/web/browser.Suite",
}

// budgetsAreChecked: a package whose tests use resources that infer/fixture counts has a TestMain
// that compares the counts with the package's budget.
var budgetsAreChecked = guard{
	name: "BudgetsAreChecked", least: 300,
	reads: (*source).test,
	check: func(files []*source) (list []finding) {
		spends, checks := map[string]*source{}, map[string]bool{}
		for _, s := range files {
			if slices.ContainsFunc(s.imports, func(i located) bool { return slices.Contains(spending, i.text) }) {
				spends[s.folder()] = s
			}
			checks[s.folder()] = checks[s.folder()] || slices.ContainsFunc(s.uses, func(u located) bool {
				return strings.HasSuffix(u.in, "TestMain") && slices.Contains(checksBudget, u.text)
			})
		}
		for _, folder := range slices.Sorted(maps.Keys(spends)) {
			if !checks[folder] {
				list = append(list, spends[folder].finds(1, "no TestMain that checks the budget of "+folder,
					"one that calls fixture.Run"))
			}
		}
		return list
	},
	examples: []guardExample{
		{1, code("web/a/a_test.go", `import _ "`+module+`/web/browser"`)},
		{1, code("web/a/a_test.go", `import "`+module+`/web/browser"; func TestMain() { browser.Open() }`)},
		{0, code("web/a/a_test.go", `import "`+module+`/web/browser"; func TestMain() { browser.Main() }`)},
		{0, code("web/a/a_test.go", `import "testing"`)},
	},
}
