package grammar

import (
	"runtime"
	"strings"
	"sync"
	"weak"
)

// Expression begins the text of a grammar that is a regular expression.
const Expression = "regexp:"

// inUse are the grammars that somebody holds, by their texts.
var (
	inUse   = map[string]weak.Pointer[Grammar]{}
	inUseMu sync.Mutex
)

// Compile makes the grammar of a text as settings have it: a JSON schema, or a regular
// expression after [Expression]. Texts that are compiled while somebody holds their
// grammar share it. The error is a *[terms.Refusal].
func Compile(text string) (g *Grammar, err error) {
	if g = held(text); g != nil {
		return g, nil
	}
	if expression, ok := strings.CutPrefix(text, Expression); ok {
		g, err = FromRegexp(expression)
	} else {
		g, err = FromSchema([]byte(text))
	}
	if err != nil {
		return nil, err
	}
	inUseMu.Lock()
	defer inUseMu.Unlock()
	inUse[text] = weak.Make(g)
	runtime.AddCleanup(g, forgetUnused, text)
	return g, nil
}

func held(text string) *Grammar {
	inUseMu.Lock()
	defer inUseMu.Unlock()
	return inUse[text].Value()
}

// forgetUnused forgets a text whose grammar nobody holds any more.
func forgetUnused(text string) {
	inUseMu.Lock()
	defer inUseMu.Unlock()
	if inUse[text].Value() == nil {
		delete(inUse, text)
	}
}
