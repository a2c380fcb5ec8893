package shell

import "context"

// warnKey is the context key for [Warn].
type warnKey struct{}

// Warn returns a context for requests whose pages show a warning below their header, for example
// that nothing can be saved right now. say is called when the page is sent and returns the warning,
// or "" for none.
func Warn(ctx context.Context, say func() string) context.Context {
	return context.WithValue(ctx, warnKey{}, say)
}

func warned(ctx context.Context) string {
	if say, ok := ctx.Value(warnKey{}).(func() string); ok {
		return say()
	}
	return ""
}
