package shell

import (
	"context"

	"github.com/tokenbytoken/viz/infer/terms"
)

// warnKey is the context key for [Warn].
type warnKey struct{}

// Warn returns a context for requests whose pages show a warning below their header, for example
// that nothing can be saved right now. say is called when the page is sent and returns the warning
// in the page's language, or "" for none.
func Warn(ctx context.Context, say func(l *terms.Language) string) context.Context {
	return context.WithValue(ctx, warnKey{}, say)
}

func warned(ctx context.Context) string {
	if say, ok := ctx.Value(warnKey{}).(func(*terms.Language) string); ok {
		return say(terms.In(ctx))
	}
	return ""
}
