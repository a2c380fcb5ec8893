package shell

import "context"

// warnKey is the key of what [Warn] has every page say.
type warnKey struct{}

// Warn returns the context of a request whose page says a sentence below its header, such
// as that nothing is kept at present.
func Warn(ctx context.Context, say string) context.Context {
	return context.WithValue(ctx, warnKey{}, say)
}

func warned(ctx context.Context) string {
	say, _ := ctx.Value(warnKey{}).(string)
	return say
}
