package main

import (
	"regexp"
	"strings"
)

// keysHaveOneHome: one script decides which presses of keys are commands, for every layout and
// input method. A second listener would send half a text, or miss layouts without Latin letters.
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
