package labs

import (
	"github.com/tokenbytoken/viz/infer/lab"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/stage"
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

// verdictWord returns a verdict in words, with a mark that makes it recognizable without color.
func verdictWord(w stage.Words, verdict string) string { return w.T("labs.round.verdict." + verdict) }

// runText describes a run: its models, its duration and its noise.
func runText(w stage.Words, r *lab.Report) string {
	key, drafted := "labs.about.run", r.Draft != "" && r.Lab == "speculation"
	switch {
	case drafted && r.Canceled:
		key = "labs.about.run.draft.early"
	case drafted:
		key = "labs.about.run.draft"
	case r.Canceled:
		key = "labs.about.run.early"
	}
	return w.T(
		key, "model", r.Model, "draft", r.Draft, "took", w.Took(r.Took), "noise", r.Noise.In(w.Language),
	)
}

// work formats a very large count of multiply-adds.
func work(w stage.Words, n float64) string {
	for _, u := range []struct {
		size float64
		name string
	}{{1e18, "E"}, {1e15, "P"}, {1e12, "T"}} {
		if n >= u.size {
			return terms.Decimals(n/u.size, 2) + " " + u.name
		}
	}
	return w.MultAdds(int64(n))
}

// placeOf returns a lab's position, the number of labs, and the next lab, which is nil for the last
// one.
func placeOf(w stage.Words, name string) (n, of int, next *lab.Info) {
	all := lab.All()
	for i, l := range all {
		if l.Info(w.Language).Name != name {
			continue
		}
		if i+1 < len(all) {
			after := all[i+1].Info(w.Language)
			next = &after
		}
		return i + 1, len(all), next
	}
	return 0, len(all), nil
}

// placeText describes a lab's position in words.
func placeText(w stage.Words, name string) string {
	n, of, _ := placeOf(w, name)
	return w.T("labs.place", "n", n, "of", of)
}

// nextOf returns the lab after the given one.
func nextOf(w stage.Words, name string) *lab.Info {
	_, _, next := placeOf(w, name)
	return next
}
