package shell

import "context"

// warnKey is the context key for [Warn].
type warnKey struct{}

// Warn returns the context of a request whose page shows a sentence below its header, for example
// that nothing can be saved at present. say is called when the page is sent, and returns "" for no
// warning.
func Warn(ctx context.Context, say func() string) context.Context {
	return context.WithValue(ctx, warnKey{}, say)
}

func warned(ctx context.Context) string {
	if say, ok := ctx.Value(warnKey{}).(func() string); ok {
		return say()
	}
	return ""
}
