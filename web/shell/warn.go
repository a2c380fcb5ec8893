package shell

import "context"

// warnKey is the key of what [Warn] has every page say.
type warnKey struct{}

// Warn returns the context of a request whose page says a sentence below its header, such
// as that nothing is kept at present. say is called when the page is sent, and returns ""
// for none.
func Warn(ctx context.Context, say func() string) context.Context {
	return context.WithValue(ctx, warnKey{}, say)
}

func warned(ctx context.Context) string {
	if say, ok := ctx.Value(warnKey{}).(func() string); ok {
		return say()
	}
	return ""
}
