package grammar

import (
	"runtime"
	"strings"
	"sync"
	"weak"
)

// Expression is the prefix of a grammar's text that marks it as a regular expression.
const Expression = "regexp:"

// inUse maps source texts to the grammars that are in use.
var (
	inUse   = map[string]weak.Pointer[Grammar]{}
	inUseMu sync.Mutex
)

// Compile compiles a grammar in the form used in settings: a JSON schema, or a regular expression
// with the prefix [Expression]. While a grammar is in use, compiling the same text again returns
// the same grammar. The error is a *[terms.Refusal].
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

// forgetUnused removes text's entry if its grammar is no longer in use.
func forgetUnused(text string) {
	inUseMu.Lock()
	defer inUseMu.Unlock()
	if inUse[text].Value() == nil {
		delete(inUse, text)
	}
}
