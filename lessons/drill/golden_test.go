package drill

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/terms"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// dump formats everything in a problem that a learner can see: the given facts, and each cell with
// its answer, the values of its named mistakes and its hints. It omits the many mistakes that are
// just numbers from other rows.
func dump(p *Problem) string {
	var b strings.Builder
	for _, f := range p.Facts {
		fmt.Fprintf(&b, "given %s: %s\n", f.Name, f.Value)
	}
	for _, s := range p.Steps {
		fmt.Fprintf(&b, "\nstep %s (%s) %s needs %v\n", s.ID, s.Note, s.Title, s.Needs)
		for _, r := range append(slices.Clone(s.Rows), s.Foot...) {
			for i, it := range r.Items {
				if it.Cell == nil && it.Text != "" {
					fmt.Fprintf(&b, "  shows %q, %s: %s\n", r.Name, s.Columns[i].Key, it.Text)
				}
			}
		}
		for _, id := range p.order {
			if c := p.cells[id]; c.step == s.ID {
				c.dump(&b)
			}
		}
	}
	for _, s := range p.overview {
		fmt.Fprintf(&b, "\nat the end %s (%s), cut %v: %s\n", s.Step, s.Note, s.Cut, s.Remark)
		for _, r := range s.Rows {
			fmt.Fprintf(&b, "  %q p %.10g q %.10g kept %v\n", r.Name, r.P, r.Q, r.Kept)
		}
	}
	for _, t := range p.trend {
		fmt.Fprintf(&b, "trend %.10g\n", t)
	}
	return b.String()
}

func (c *cell) dump(b *strings.Builder) {
	fmt.Fprintf(b, "  %s (%s, %s) = %s\n", c.ID, c.Label, c.Unit, c.answer)
	switch g := c.grader.(type) {
	case *number:
		g.dump(b)
	case *cutNumber:
		g.number.dump(b)
		fmt.Fprintf(b, "    cut: %v\n", g.cut)
	case *choice:
		for _, v := range slices.Sorted(maps.Keys(g.why)) {
			fmt.Fprintf(b, "    not %s: %v\n", v, g.why[v])
		}
		fmt.Fprintf(b, "    says: %s\n", g.note)
	case *set:
		fmt.Fprintf(b, "    keeps %d of %v, says: %s\n", g.keep, g.ranked, g.note)
	default:
		fmt.Fprintf(b, "    %T\n", g)
	}
	for _, h := range c.hints {
		fmt.Fprintf(b, "    hint: %s\n", h)
	}
	for _, l := range c.work {
		fmt.Fprintf(b, "    work: %v\n", l)
	}
}

func (n *number) dump(b *strings.Builder) {
	fmt.Fprintf(b, "    want %.10g, says: %s\n", n.want, n.note)
	for _, s := range n.slips {
		if s.mistake == OtherRow {
			continue
		}
		fmt.Fprintf(b, "    %.10g is %s (%g): %s %s\n", s.value, s.mistake, s.credit, s.title, s.why)
	}
}

// TestGoldenDrills compares every drill with a golden file: the lesson's own example, and one
// problem of each level. Other tests check the numbers; this one shows what a change to the code
// affects.
func TestGoldenDrills(t *testing.T) {
	for _, info := range Kinds(terms.English) {
		for level := 1; level <= info.Levels; level++ {
			for _, seed := range []uint64{0, 7} {
				if seed == 0 && level > 1 {
					continue
				}
				p, err := New(terms.English, info.Kind, seed, level)
				if err != nil {
					t.Fatal(err)
				}
				path := filepath.Join("testdata", "golden", fmt.Sprintf("%s-%d-%d.txt", info.Kind, seed, level))
				got := dump(p)
				if *update {
					if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if got != string(want) {
					t.Errorf(
						"got a problem that differs from %s; run with -update and look at git diff:\n%s", path,
						firstDifference(string(want), got),
					)
				}
			}
		}
	}
}

func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			return fmt.Sprintf("line %d was %s\nand is %s", i+1, w[i], g[i])
		}
	}
	return fmt.Sprintf("%d lines, were %d", len(g), len(w))
}
