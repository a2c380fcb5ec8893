package lessons

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tokenbytoken/viz/infer/languages"
)

// mathJSON is the table that `go generate ./lessons` writes.
//
//go:embed math/table.json
var mathJSON []byte

// A MathTable maps TeX to MathML. The same TeX is rendered differently in running text and in
// displays.
type MathTable struct {
	Inline  map[string]string `json:"inline"`
	Display map[string]string `json:"display"`
}

// A Formula is TeX from the course, with its figures computed.
type Formula struct {
	TeX     string
	Display bool
	Where   string // file:line of its first use
}

func readMath(data []byte) (MathTable, error) {
	var t MathTable
	if err := json.Unmarshal(data, &t); err != nil {
		return t, fmt.Errorf("math/table.json: %w; run go generate ./lessons", err)
	}
	return t, nil
}

// mathML looks up a formula, and records its use.
func (l *loader) mathML(at position, tex string, displayed bool) string {
	l.formulas = append(l.formulas, Formula{tex, displayed, fmt.Sprintf("%s:%d", at.file, at.line)})
	if l.collecting {
		return ""
	}
	table := l.math.Inline
	if displayed {
		table = l.math.Display
	}
	m, ok := table[tex]
	if !ok && l.own {
		m, err := plainMath(tex, displayed)
		if err != nil {
			l.problems.add(at, "formula %s: %v", tex, err)
		}
		return m
	}
	if !ok {
		l.problems.add(at, "the formula %s has not been rendered: run go generate ./lessons", tex)
	}
	return m
}

// Formulas returns every formula of the course in all languages, without duplicates, for the
// generator that renders them. It works like [Load] without the rendered table, and reports the
// same problems.
func Formulas() ([]Formula, error) {
	var all loader
	folders := builtIn()
	for _, tag := range languages.Tags() {
		l := newLoader(folders[tag], MathTable{})
		l.collecting = true
		l.load()
		if err := l.problems.err(); err != nil {
			return nil, err
		}
		all.formulas = append(all.formulas, l.formulas...)
	}
	return all.used(), nil
}

// used returns the formulas that were looked up, sorted and without duplicates.
func (l *loader) used() []Formula {
	list := slices.Clone(l.formulas)
	slices.SortStableFunc(list, func(a, b Formula) int {
		if a.Display != b.Display {
			if a.Display {
				return 1
			}
			return -1
		}
		return strings.Compare(a.TeX, b.TeX)
	})
	return slices.CompactFunc(list, func(a, b Formula) bool { return a.TeX == b.TeX && a.Display == b.Display })
}
