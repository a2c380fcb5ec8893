package main

import (
	"regexp"
	"strings"
)

// keysHaveOneHome: a single script decides which key presses are commands, for every layout and
// input method. A second listener might submit half-typed text, or not support layouts without
// Latin letters.
var keysHaveOneHome = guard{
	name: "KeysHaveOneHome", least: 40,
	reads: func(s *source) bool {
		return s.ext() == ".js" && s.among("static/js") && !s.among("static/js/keys.js", "static/js/vendor")
	},
	check: func(files []*source) (list []finding) {
		for _, s := range files {
			for _, at := range keyListener.FindAllStringIndex(s.text, -1) {
				list = append(list, s.finds(lineAt(s.text, at[0]), s.text[at[0]:at[1]],
					"onKey or onShortcut of static/js/keys.js"))
			}
		}
		return list
	},
	examples: []guardExample{
		{1, map[string]string{"static/js/a.js": "document.addEventListener('keydown', act);\n"}},
		{2, map[string]string{"static/js/a.js": "for (const type of ['keypress', \"keyup\"]) listen(type);\n"}},
		{1, map[string]string{"static/js/a.js": "field.onkeydown = act;\n"}},
		{2, map[string]string{"static/js/a.js": "if (event.isComposing || event.keyCode === 229) return;\n"}},
		{0, map[string]string{"static/js/keys.js": "document.addEventListener('keydown', act);\n"}},
		{0, map[string]string{"static/js/a.js": "// not 'key' nor keys\nonKey(form, act);\n"}},
	},
}

var keyListener = regexp.MustCompile(strings.ReplaceAll(
	`Q(key(down|up|press)|composition(start|update|end))Q|`+
		`\bonkey(down|up|press)\b|\.(isComposing|keyCode|which|charCode)\b`,
	"Q", "['\"`]"))

// directionsAreGiven: on every page, text that a person types or that comes from an instructor's
// file is in an element with dir="auto" or in <bdi>, so the text has its own direction.
var directionsAreGiven = guard{
	name: "DirectionsAreGiven", least: 40,
	reads: func(s *source) bool { return s.ext() == ".templ" },
	check: func(files []*source) (list []finding) {
		for _, s := range files {
			for _, tag := range textArea.FindAllStringIndex(s.text, -1) {
				if !strings.Contains(s.text[tag[0]:tag[1]], `dir="auto"`) {
					list = append(list,
						s.finds(lineAt(s.text, tag[0]), "a text area without a direction", `dir="auto"`))
				}
			}
			if !s.among("web/classroom", "web/coursework", "web/learn", "web/practice") {
				continue // titles elsewhere are the program's own
			}
			for _, title := range titleText.FindAllStringIndex(s.text, -1) {
				if before := s.text[:title[0]]; !directed.MatchString(before[strings.LastIndex(before, "\n")+1:]) {
					list = append(list, s.finds(lineAt(s.text, title[0]), s.text[title[0]:title[1]],
						`the same in <bdi> or in an element with dir="auto"`))
				}
			}
		}
		return list
	},
	examples: []guardExample{
		{1, map[string]string{"web/loop/a.templ": "<textarea id=\"a\">{ v.Title }</textarea>\n"}},
		{0, map[string]string{"web/loop/a.templ": "<textarea\n\tdir=\"auto\"\n\tid=\"a\"\n>{ v }</textarea>\n"}},
		{1, map[string]string{"web/learn/a.templ": "<h1>{ v.Title }</h1>\n"}},
		{1, map[string]string{"web/learn/a.templ": "<p dir=\"auto\">Next: { v.Next.LessonTitle }</p>\n"}},
		{0, map[string]string{"web/learn/a.templ": "<h1 dir=\"auto\">{ v.Title }</h1>\n"}},
		{0, map[string]string{"web/learn/a.templ": "<p>Next: <bdi>{ v.Title }</bdi></p>\n<a title={ v.Title }></a>\n"}},
	},
}

var (
	textArea  = regexp.MustCompile(`<textarea[^>]*>`)
	titleText = regexp.MustCompile(`(?m)([^=\w]|^)\{ [\w.\[\]()]*Title \}`)
	directed  = regexp.MustCompile(`(<bdi|\bdir="auto")$`)
)
