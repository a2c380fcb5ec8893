package drill

import "testing"

// TestLookingAheadIsNeverRight: the weight, the message and the sum of a token that looked ahead are
// never right, whether they have three or four significant digits. The same holds for the results of
// the other mistakes.
func TestLookingAheadIsNeverRight(t *testing.T) {
	for level := 1; level <= MaxLevel; level++ {
		for seed := range uint64(200) {
			p := mustNew(t, Attention, seed, level)
			for _, id := range []string{"weights.w", "message.message", "message.added"} {
				n := p.cells[id].grader.(*number)
				ahead := false
				for _, s := range n.slips {
					ahead = ahead || s.mistake == LookedAhead
					for digits := 3; digits <= 4; digits++ {
						if v := p.Check(id, significant(s.value, digits)); v.State == Right {
							t.Errorf(
								"seed %d, level %d: %s = %s, from %q, is right; the right value is %v", seed, level,
								id, significant(s.value, digits), s.mistake, n.want[0],
							)
						}
					}
				}
				if !ahead {
					t.Errorf("seed %d, level %d: looking ahead does not change %s", seed, level, id)
				}
			}
		}
	}
}
