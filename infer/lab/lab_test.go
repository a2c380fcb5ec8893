package lab

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/bundled"
	"github.com/tokenbytoken/viz/infer/checkpoint"
	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/infer/terms"
)

// pair loads the bundled models once.
var pair = sync.OnceValues(func() (Env, error) {
	var env Env
	for _, m := range []struct {
		open func() (*checkpoint.Checkpoint, error)
		to   **infer.Model
	}{{bundled.Target, &env.Target}, {bundled.Draft, &env.Draft}} {
		c, err := m.open()
		if err != nil {
			return env, err
		}
		if *m.to, err = infer.Load(c); err != nil {
			return env, err
		}
	}
	return env, nil
})

func models(t testing.TB) Env {
	t.Helper()
	env, err := pair()
	if err != nil {
		t.Fatal(err)
	}
	return env
}

// values returns a lab's default values with the given changes.
func values(t testing.TB, l Lab, changed terms.Values) terms.Values {
	t.Helper()
	v, err := l.Info(terms.English).Inputs.Read(changed)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// result runs a lab and returns its result.
func result[T any](t testing.TB, name string, changed terms.Values) (T, *Report) {
	t.Helper()
	l, ok := Find(name)
	if !ok {
		t.Fatalf("no lab %s", name)
	}
	r, err := l.Run(t.Context(), models(t), values(t, l, changed), nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.Canceled {
		t.Fatal("canceled")
	}
	return r.Result.(T), r
}

// small holds values for short runs of the labs whose default runs are long.
var small = map[string]terms.Values{
	"strategies":   {"tokens": "12", "runs": "2", "lanes": "greedy,pure,t=2 k=5", "horizon": "2"},
	"draw":         {"draws": "1000", "repeats": "5"},
	"cache":        {"tokens": "8", "repeats": "2"},
	"memory":       {"tokens": "12"},
	"prefill":      {"lengths": "1,8,40", "tokens": "8", "repeats": "2"},
	"bill":         {"max_tokens": "16", "try_max_tokens": "4"},
	"speculation":  {"tokens": "16", "gamma": "3", "gammas": "1,3", "repeats": "2", "rounds": "500"},
	"stops":        {"tokens": "24", "max_tokens": "16"},
	"induction":    {"rows": "1", "length": "8", "off": "2"},
	"quantization": {"tokens": "10", "step": "3", "rows": "4", "repeats": "2"},
}

func TestEveryLabIsDescribed(t *testing.T) {
	var names []string
	for _, l := range All() {
		info := l.Info(terms.English)
		names = append(names, info.Name)
		if info.Title == "" || !strings.HasSuffix(info.Question, "?") || info.Includes == "" {
			t.Errorf(
				"%s: title %q, question %q, includes %q; want non-empty, it ending with %q, non-empty", info.Name,
				info.Title, info.Question, info.Includes, "?",
			)
		}
		if len(info.Try) != 2 {
			t.Errorf("%s has %d presets to try, want 2", info.Name, len(info.Try))
		}
		defaults, err := info.Inputs.Read(nil)
		if err != nil {
			t.Fatalf("%s: the default values were rejected: %v", info.Name, err)
		}
		again, err := info.Inputs.Read(defaults)
		if err != nil || !same(defaults, again) {
			t.Errorf("%s: parsing twice gives %v, then %v (%v)", info.Name, defaults, again, err)
		}
		for _, p := range info.Try {
			v, err := info.Inputs.Read(p.Values)
			if err != nil || p.Why == "" {
				t.Errorf("%s, %q: %v, why %q; want <nil>, non-empty", info.Name, p.Name, err, p.Why)
				continue
			}
			e, err := l.Estimate(models(t), v)
			if err != nil || e.MultAdds <= 0 || e.Took <= 0 || e.Bytes <= 0 {
				t.Errorf(
					"%s, %q: estimate %+v, %v; want no error, MultAdds more than 0, Took more than 0, "+
						"Bytes more than 0",
					info.Name, p.Name, e, err,
				)
			}
		}
	}
	once := slices.Compact(slices.Sorted(slices.Values(names)))
	if len(once) < 9 || len(once) < len(names) || names[0] != "strategies" {
		t.Errorf(
			"the labs, in the order of the course, are %v, want len(once) at least 9 and at least %d, [0] = %q", names,
			len(names), "strategies",
		)
	}
	if _, ok := Find("none"); ok {
		t.Error("found a lab named none")
	}
}

func same(a, b terms.Values) bool {
	for k := range a {
		if a[k] != b[k] {
			return false
		}
	}
	return len(a) == len(b)
}

// TestProgressReportsAreFinal: every lab sends a separate report each time, and never changes a row
// that it has already reported.
func TestProgressReportsAreFinal(t *testing.T) {
	for _, l := range All() {
		name := l.Info(terms.English).Name
		var seen []Progress
		var texts []string
		r, err := l.Run(t.Context(), models(t), values(t, l, small[name]), func(p Progress) {
			seen = append(seen, p)
			text := ""
			if p.Partial != nil {
				text = asJSON(t, p.Partial)
			}
			texts = append(texts, text)
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(seen) < 3 || seen[len(seen)-1].Partial != r {
			t.Errorf("%s: got %d progress messages, want the last one to contain the final report", name, len(seen))
		}
		partials := 0
		for i, p := range seen {
			if p.Done > p.Of || p.Of == 0 || p.Say.IsZero() || i > 0 && p.Done < seen[i-1].Done {
				t.Errorf(
					"%s: got progress %d of %d, %q after %d; want it to grow, with words", name, p.Done, p.Of, p.Say,
					seen[max(0, i-1)].Done,
				)
			}
			if p.Partial == nil {
				continue
			}
			partials++
			if now := asJSON(t, p.Partial); now != texts[i] {
				t.Errorf("%s: progress message %d was changed after it was sent", name, i)
			}
		}
		if partials < 2 {
			t.Errorf("%s: got %d partial reports, want at least 2", name, partials)
		}
		if r.Lab != name || r.Model != models(t).Target.Name() || r.Took <= 0 || len(r.Tables) == 0 {
			t.Errorf(
				"%s: got report %s of %s in %v with %d tables; want this lab's of the given model, with "+
					"a time and tables",
				name, r.Lab, r.Model, r.Took, len(r.Tables),
			)
		}
	}
}

// TestCanceledRunReturnsPartialReport: a canceled run returns its measurements so far and no error.
func TestCanceledRunReturnsPartialReport(t *testing.T) {
	for _, l := range All() {
		name := l.Info(terms.English).Name
		v := values(t, l, small[name])
		whole := 0
		if _, err := l.Run(t.Context(), models(t), v, func(p Progress) { whole++ }); err != nil {
			t.Fatal(err)
		}
		moments := []int{0, whole / 2}
		if fixture.LongTier() {
			moments = []int{0, 1, whole / 2, whole - 2}
		}
		for _, after := range moments {
			ctx, cancel := context.WithCancel(t.Context())
			if after == 0 {
				cancel()
			}
			n := 0
			r, err := l.Run(ctx, models(t), v, func(Progress) {
				if n++; n == after {
					cancel()
				}
			})
			cancel()
			if err != nil || !r.Canceled {
				t.Errorf(
					"%s, canceled after %d of %d messages: got Canceled %v, %v; want true, <nil>", name, after, whole,
					r != nil && r.Canceled, err,
				)
				continue
			}
			if after == 0 && name != "memory" && r.Result != nil { // the memory calculator measures nothing
				t.Errorf("%s: got a result without measurements, want none", name)
			}
			if after > whole/3 && (r.Result == nil || len(r.Tables) == 0) {
				t.Errorf("%s: got no result after %d of %d messages, want the measurements so far", name, after, whole)
			}
			asJSON(t, r)
		}
	}
}

// TestValuesBeyondTheModelAreRefused: values that do not fit the model are rejected before
// anything runs.
func TestValuesBeyondTheModelAreRefused(t *testing.T) {
	env := models(t)
	long := strings.Repeat(" cat", env.Target.Config().Context+1)
	for _, l := range All() {
		name := l.Info(terms.English).Name
		v := values(t, l, small[name])
		v["prompt"] = long
		_, estimated := l.Estimate(env, v)
		_, ran := l.Run(t.Context(), env, v, nil)
		for _, err := range []error{estimated, ran} {
			var r *terms.RangeError
			if !errors.As(err, &r) || r.Field != "prompt" || !strings.Contains(r.Want.String(), "context") {
				t.Errorf(
					"%s with a prompt longer than the context: got error %v, want a range error at the prompt "+
						"that names the context",
					name, err,
				)
			}
		}
	}
	for _, c := range []struct{ lab, name, value, want string }{
		{"cache", "block", "7", "1 to 6"},
		{"cache", "position", "400", "a position of this text"},
		{"memory", "kv_heads", "4", "divisor of 6"},
		{"prefill", "lengths", "513,600", "at most 512 tokens"},
		{"strategies", "lanes", "greedy,hot", "one to six of greedy"},
		{"strategies", "lanes", "a,b,c,d,e,f,g", "one to six"},
		{"strategies", "lanes", "pure,pure,pure,pure,pure,pure,pure", "one to six"},
		{"strategies", "lanes", "t=1,,t=2", "one to six"},
		{"strategies", "lanes", "t=-1", "0 (greedy) to 100"},
		{"strategies", "lanes", "k=1.5", "one to six"},
		{"draw", "step", "64", "where this text ends"},
	} {
		l, _ := Find(c.lab)
		changed := terms.Values{c.name: c.value}
		if c.lab == "draw" {
			changed["prompt"], changed["temperature"] = "User: Hi\nAssistant: Bye.\n\nThe end.", "0"
		}
		if c.lab == "memory" {
			changed["preset"] = "loaded"
		}
		v := values(t, l, changed)
		_, err := l.Run(t.Context(), env, v, nil)
		var r *terms.RangeError
		if c.lab == "draw" && err == nil {
			continue // the model generated more than 64 tokens, so there is no error
		}
		if !errors.As(err, &r) || r.Field != c.name || !strings.Contains(r.Error(), c.want) {
			t.Errorf("%s with %s %q: %v, want %q", c.lab, c.name, c.value, err, c.want)
		}
	}
	l, _ := Find("speculation")
	_, err := l.Run(t.Context(), Env{Target: env.Target}, values(t, l, nil), nil)
	var r *terms.RangeError
	if !errors.As(err, &r) || r.Field != "draft" || r.Got.String() != "missing" {
		t.Errorf(
			"no draft: got %v, want a *terms.RangeError with Field = %q, Got = %q", err, "draft", "missing",
		)
	}
}
