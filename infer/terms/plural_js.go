package terms

import (
	"sync"
	"syscall/js"
)

// pluralOf is like its counterpart for other platforms. The browser has the rules for all
// languages; the rules for English are here, because they are needed before the program runs in a
// browser.
func pluralOf(tag string) func(n int) string {
	rules := sync.OnceValue(func() js.Value { return js.Global().Get("Intl").Get("PluralRules").New(tag) })
	return func(n int) string {
		switch {
		case tag != "en":
			return rules().Call("select", max(n, -n)).String()
		case n == 1 || n == -1:
			return "one"
		}
		return "other"
	}
}
