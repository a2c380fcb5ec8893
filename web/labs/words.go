package labs

import (
	"strconv"

	"github.com/tokenbytoken/viz/infer/lab"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/shell"
)

// options returns the possible values of a choice.
func options(c shell.Control) []string {
	if c.Kind == terms.KindBool {
		return []string{"true", "false"}
	}
	return c.Options
}

// eachOf returns the probability of the i-th token of a path, or 0 if the path is shorter.
func eachOf(s lab.Sequence, i int) float64 {
	if i < len(s.Each) {
		return s.Each[i]
	}
	return 0
}

// verdictWord returns a verdict with a mark, so that it can be recognized without color.
func verdictWord(verdict string) string {
	return map[string]string{
		"taken": "✓ accepted", "refused": "✕ refused", "dropped": "– dropped", "correction": "→ instead",
		"bonus": "+ one more",
	}[verdict]
}

// runText describes a run: its settings, its duration and its noise.
func runText(r *lab.Report) string {
	say := r.Model
	if r.Draft != "" && r.Lab == "speculation" {
		say += " with " + r.Draft
	}
	say += "; " + terms.Took(r.Took) + " in all. "
	if r.Canceled {
		say += "It ended early; everything it measured is here. "
	}
	return say + r.Noise
}

// work formats a very large count of multiply-adds.
func work(n float64) string {
	for _, u := range []struct {
		size float64
		name string
	}{{1e18, "E"}, {1e15, "P"}, {1e12, "T"}} {
		if n >= u.size {
			return terms.Decimals(n/u.size, 2) + " " + u.name
		}
	}
	return terms.MultAdds(int64(n))
}

// placeOf returns a lab's position, the number of labs, and the next lab, which is nil after the
// last one.
func placeOf(name string) (n, of int, next *lab.Info) {
	all := lab.All()
	for i, l := range all {
		if l.Info().Name != name {
			continue
		}
		if i+1 < len(all) {
			after := all[i+1].Info()
			next = &after
		}
		return i + 1, len(all), next
	}
	return 0, len(all), nil
}

// placeText describes a lab's position in words.
func placeText(name string) string {
	n, of, _ := placeOf(name)
	return "lab " + strconv.Itoa(n) + " of " + strconv.Itoa(of)
}

// nextOf returns the lab after the given one.
func nextOf(name string) *lab.Info {
	_, _, next := placeOf(name)
	return next
}
