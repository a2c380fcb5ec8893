package chance

import "testing"

// TestKeysAndSteadyNumbers: keys are unique, pages with a steady context get the same keys each
// time, and numbers are always below their bound.
func TestKeysAndSteadyNumbers(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	if a, b := Key(ctx), Key(ctx); a == b || len(a) != 16 {
		t.Errorf("two keys are %s and %s; want a key that is not %s, of 16 bytes", a, b, b)
	}
	one, two := Steady(ctx), Steady(ctx)
	first := Key(one)
	if first != Key(two) || Key(one) == first {
		t.Errorf("steady pages begin with the key %s, but then repeat it or differ from each other", first)
	}
	seen := map[uint64]bool{}
	for range 1000 {
		seen[N(ctx, 3)] = true
	}
	if len(seen) != 3 || seen[3] {
		t.Errorf("the numbers below 3 are %v, want 3 elements, [3] = false", seen)
	}
}
