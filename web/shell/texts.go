package shell

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/static"
)

// scriptKey matches the key of a text in a script. If the script appends a variable to the key, it
// matches the part before the variable.
var scriptKey = regexp.MustCompile("[`'](js\\.[a-z.]+)")

// variants lists the possible endings of a text's key in the catalogs: none, or a plural category.
var variants = []string{"", ".zero", ".one", ".two", ".few", ".many", ".other"}

// scriptTexts holds the results of ScriptTexts by language and address.
var scriptTexts sync.Map

// ScriptTexts returns the texts that the script at an address uses, as JSON for the script
// (static/js/texts.js). The JSON contains no characters that are special in HTML.
func ScriptTexts(l *terms.Language, address string) string {
	type use struct {
		language *terms.Language
		address  string
	}
	if known, ok := scriptTexts.Load(use{l, address}); ok {
		return known.(string)
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(address, "/static/"), "?")
	f, err := static.Open(name)
	if err != nil {
		panic("shell: " + err.Error()) // embedded
	}
	texts := map[string]string{}
	for _, found := range scriptKey.FindAllStringSubmatch(string(f.Data), -1) {
		key := found[1]
		for other, text := range l.Under(key) {
			if strings.HasSuffix(key, ".") || slices.Contains(variants, strings.TrimPrefix(other, key)) {
				texts[other] = text
			}
		}
	}
	list, err := json.Marshal(texts)
	if err != nil {
		panic("shell: " + err.Error()) // texts are valid UTF-8
	}
	scriptTexts.Store(use{l, address}, string(list))
	return string(list)
}
