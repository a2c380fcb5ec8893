package lab

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
)

func TestPricesCost(t *testing.T) {
	// 1,000 input tokens at $3 per million and 200 output tokens at $15: 0.003 + 0.003.
	c := Prices{3, 15}.cost(1000, 200)
	if !near(c.Input, 0.003, 1e-15) || !near(c.Output, 0.003, 1e-15) || !near(c.Total, 0.006, 1e-15) {
		t.Errorf("got %+v, want Input ≈ 0.003, Output ≈ 0.003, Total ≈ 0.006", c)
	}
}

// TestBillSavings: each saving equals the difference in cost from a separate run with the same
// change.
func TestBillSavings(t *testing.T) {
	env := models(t)
	b, r := result[*Bill](
		t, "bill", terms.Values{"max_tokens": "40", "try_max_tokens": "7", "try_stop": "e", "requests": "1000"},
	)
	in := len(b.Prompt)
	for i, x := range b.Ticks {
		if want := (Prices{3, 15}).cost(in, i+1).Total; x.Cost != want || x.Step != i+1 {
			t.Errorf("tick %+v, want %v", x, want)
		}
	}
	if b.Cost.InputTokens != in || b.Cost.OutputTokens != len(b.Ticks) ||
		!near(b.OutputShare, b.Cost.Output/b.Cost.Total, 1e-12) || b.BreakEven != 5 {
		t.Errorf(
			"got %+v, share %v, break-even %v; want InputTokens = %d, OutputTokens = %d, b.OutputShare ≈ "+
				"%v, b.BreakEven = 5",
			b.Cost, b.OutputShare, b.BreakEven, in, len(b.Ticks), b.Cost.Output/b.Cost.Total,
		)
	}
	settings := infer.Settings{Settings: common(), Seed: 42}
	for i, x := range []struct {
		name, prompt string
		stop         infer.Stop
	}{
		{"stop", story, infer.Stop{MaxTokens: 40, Strings: []string{"e"}}},
		{"max_tokens", story, infer.Stop{MaxTokens: 7}},
		{"prompt", "Once there was a", infer.Stop{MaxTokens: 40}},
	} {
		settings.Stop = x.stop
		loop, err := infer.NewLoop(env.Target, x.prompt, settings)
		if err != nil {
			t.Fatal(err)
		}
		text, err := write(t.Context(), loop)
		s := b.Savings[i]
		want := b.Prices.cost(len(env.Target.Encode(x.prompt)), len(loop.Steps()))
		if err != nil || s.Name != x.name || s.Text != text || s.Cost != want || s.Saved != b.Cost.Total-want.Total ||
			!near(
				s.ADay, 1000*s.Saved, 1e-12,
			) {
			t.Errorf("%s: %+v; written %q for %+v (%v)", x.name, s, text, want, err)
		}
		if x.name != "prompt" && (!s.Same || !strings.HasPrefix(b.Text, s.Text) || s.Saved <= 0) {
			t.Errorf("%s: %q is not a prefix of %q, or saves %v", x.name, s.Text, b.Text, s.Saved)
		}
	}
	if b.Why.OutputMs <= 0 || b.Why.InputMs <= 0 || b.Why.Say.IsZero() || r.Noise.IsZero() {
		t.Errorf("why %+v, want OutputMs more than 0, InputMs more than 0, Say not empty, r.Noise not empty", b.Why)
	}
}

// TestBillEstimateBeforeARun: before a run, the bill covers the prompt and as many tokens as the
// token limit and the rest of the window allow.
func TestBillEstimateBeforeARun(t *testing.T) {
	env := models(t)
	l, _ := Find("bill")
	read, window := len(env.Target.Encode(story)), env.Target.Config().Context
	for limit, most := range map[string]int{"96": 96, "1": 1, "4096": window - read + 1} {
		v, err := l.Info(terms.English).Inputs.Read(terms.Values{
			"max_tokens": limit, "input_price": "2",
			"output_price": "10",
		})
		if err != nil {
			t.Fatal(err)
		}
		r, err := Calculated(l, env, v)
		if err != nil {
			t.Fatal(err)
		}
		b := r.Result.(*Bill)
		// $2 and $10 per million tokens.
		want := (2*float64(read) + 10*float64(most)) / 1e6
		if b.AtMost.InputTokens != read || b.AtMost.OutputTokens != most || !near(b.AtMost.Total, want, 1e-15) ||
			b.BreakEven != 5 || len(b.Ticks) != 0 || b.Cost.Total != 0 {
			t.Errorf(
				"limit %s: got %+v, %+v; want b.AtMost.InputTokens = %d, b.AtMost.OutputTokens = %d, "+
					"b.AtMost.Total ≈ %v, b.BreakEven = 5, len(b.Ticks) = 0, b.Cost.Total = 0",
				limit, b.AtMost, b.Cost, read, most, want,
			)
		}
	}
	v, _ := l.Info(terms.English).Inputs.Read(terms.Values{"prompt": strings.Repeat("and ", 1000)})
	var out *terms.RangeError
	if r, err := Calculated(l, env, v); r != nil || !errors.As(err, &out) || out.Field != "prompt" {
		t.Errorf(
			"a prompt longer than the window: got %v, %v; want r = nil, a *terms.RangeError with Field = %q",
			r, err, "prompt",
		)
	}
}

func TestMachineUseByHand(t *testing.T) {
	v := terms.Values{"machine": "2", "requests": "1000"}
	// 0.5 s a request: 172,800 a day. $48 a day is 4,800 requests at $0.01.
	u := machineUse(v, 0.01, 0.5)
	if u.MostADay != 172_800 || !near(u.BreakEvenDay, 4800, 1e-9) || !near(u.CostEach, 2.0/7200, 1e-12) ||
		u.APIDay != 10 || u.MachineDay != 48 {
		t.Errorf(
			"got %+v, want MostADay = 172_800, BreakEvenDay ≈ 4800, CostEach ≈ 2.0/7200, APIDay = 10, MachineDay = 48",
			u,
		)
	}
	// At $0.0001 it would take 480,000 requests, more than the machine's capacity.
	if u := machineUse(v, 0.0001, 0.5); u.BreakEvenDay != 0 {
		t.Errorf("got %+v, want BreakEvenDay = 0", u)
	}
	if u := machineUse(v, 0, 0.5); u.BreakEvenDay != 0 { // nothing is cheaper than free
		t.Errorf("got %+v, want BreakEvenDay = 0", u)
	}
}

func TestTrainingCostByHand(t *testing.T) {
	v := terms.Values{"trained_tokens": "1000", "requests": "50"}
	// For tinyShape and texts of 3 tokens: 3 positions take 3·168 + 8·3·4 = 600, or 200 each, plus
	// 20 for the scores: 220. Three passes over 1,000 tokens take 660,000. A request of 6,600 is a
	// hundredth of that, so 50 requests a day add up to it in two days.
	got := training(v, tinyShape, 99, 3, 6600, 12)
	if got.MultAdds != 660_000 || got.Requests != 100 || got.Days != 2 || got.Answered != 1200 || got.Assumed {
		t.Errorf("got %+v, want MultAdds = 660_000, Requests = 100, Days = 2, Answered = 1200, Assumed = false", got)
	}
	v["trained_tokens"] = "0"
	if got := training(v, tinyShape, 99, 3, 6600, 12); got.Tokens != 1980 || !got.Assumed {
		t.Errorf("got %+v, want Tokens = 1980, Assumed = true", got)
	}
}

func TestRequestJSONRoundTrip(t *testing.T) {
	r := Request{
		Prompt: "Say <b> & \"hi\"\n", MaxTokens: 12, Temperature: 0.7, TopP: 0.9, TopK: 40,
		Stop: []string{"\n\n", `\n`}, Stream: true, Seed: 9007199254740991,
	}
	for range 2 {
		back, err := ParseRequest(terms.English, []byte(r.JSON()))
		if err != nil || asJSON(t, back) != asJSON(t, r) {
			t.Errorf("%+v comes back as %+v (%v), want it unchanged", r, back, err)
		}
		if again := RequestOf(back.Values()); asJSON(t, again) != asJSON(t, r) {
			t.Errorf("after conversion to values and back, the request is %+v, want %+v", again, r)
		}
		r = Request{Prompt: "a", MaxTokens: 1, TopP: 1, MinP: 0.05, Stop: []string{}}
	}
	want := `{
  "prompt": "a",
  "max_tokens": 1,
  "temperature": 0,
  "top_p": 1,
  "top_k": 0,
  "min_p": 0.05,
  "stop": [],
  "stream": false,
  "seed": 0
}`
	if r.JSON() != want {
		t.Errorf("%s\nwant %s", r.JSON(), want)
	}
	one, err := ParseRequest(terms.English, []byte(` {"prompt": "x", "stop": "User:"} `))
	if err != nil || len(one.Stop) != 1 || one.Stop[0] != "User:" || one.MaxTokens != 96 {
		t.Errorf("got %+v, %v; want no error, len(Stop) = 1, Stop[0] = %q, MaxTokens = 96", one, err, "User:")
	}
}

// TestRequestHasEveryFilter: every setting that the lab uses is written to the request's JSON and
// parsed from it. The prefill lab, which compares reading with generating, gets the same settings.
func TestRequestHasEveryFilter(t *testing.T) {
	for key, x := range map[string]string{
		"temperature": "0.4", "top_k": "7", "top_p": "0.6", "min_p": "0.05", "typical_p": "0.3",
		"repetition_penalty": "1.2", "frequency_penalty": "0.7", "presence_penalty": "-0.4",
	} {
		r, err := ParseRequest(terms.English, fmt.Appendf(nil, `{%q: %s}`, key, x))
		if err != nil {
			t.Errorf("%s: %v", key, err)
			continue
		}
		if text := r.JSON(); !strings.Contains(text, fmt.Sprintf("%q: %s,", key, x)) {
			t.Errorf("with %s %s the JSON is %s, want it to contain %q", key, x, text, fmt.Sprintf("%q: %s,", key, x))
		}
		v := r.Values()
		why := whyValues(v)
		if v[key] != x || why[key] != x || why["prompt"] != v["prompt"] || why["seed"] != v["seed"] {
			t.Errorf("%s: the values hold %q, the prefill lab's values %q, want %s", key, v[key], why[key], x)
		}
	}
	for key, x := range map[string]string{
		"typical_p": "1", "repetition_penalty": "1", "frequency_penalty": "0", "presence_penalty": "0",
	} {
		off, err := ParseRequest(terms.English, fmt.Appendf(nil, `{%q: %s}`, key, x))
		if v := off.Values(); err != nil || strings.Contains(off.JSON(), key) || v[key] != x {
			t.Errorf("off: got %s, value %q, %v; want it without %q, %q, <nil>", off.JSON(), v[key], err, key, x)
		}
	}
	if len(samplingInputs(terms.English, common())) != 8 {
		t.Error("this test lacks a sampling knob")
	}
}

func TestParseRequestRefusesBadJSON(t *testing.T) {
	for _, c := range []struct{ text, field, want string }{
		{``, "request", "one JSON object"},
		{`{"prompt": }`, "request", "request is not valid JSON at byte"},
		{`[1]`, "request", "one JSON object"},
		{`null`, "request", "one JSON object"},
		{`{} {}`, "request", "after top-level value"},
		{"{\"prompt\": \"\xff\"}", "request", "UTF-8"},
		{`{"prompt": "` + strings.Repeat("x", maxRequest) + `"}`, "request", "at most"},
		{`{"model": "x"}`, "model", "the inputs are prompt, max_tokens"},
		{`{"max_tokens": 0}`, "max_tokens", "1 to 4096 tokens"},
		{`{"max_tokens": "12"}`, "max_tokens", "a whole number"},
		{`{"max_tokens": 1.5}`, "max_tokens", "whole number"},
		{`{"temperature": -1}`, "temperature", "0 (greedy) to 100"},
		{`{"top_p": 0}`, "top_p", "above 0"},
		{`{"stream": 1}`, "stream", "true or false"},
		{`{"stop": [1]}`, "stop", "at most 8 strings"},
		{`{"stop": [""]}`, "stop", "at most 8 strings"},
		{`{"prompt": ["a"]}`, "prompt", "1 to 4096 bytes of text"},
		{`{"prompt": ""}`, "prompt", "1 to 4096 bytes"},
		{`{"prompt": null}`, "prompt", "1 to 4096 bytes of text"},
		{`{"seed": 9007199254740993}`, "seed", "9007199254740991"},
		{`{"top_k": 1, "top_k": 2}`, "", "twice"},
	} {
		_, err := ParseRequest(terms.English, []byte(c.text))
		if r, ok := terms.AsRefusal(err); !ok || r.Field != c.field || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.60s: %v, want field %s and %q", c.text, err, c.field, c.want)
		}
	}
}

func FuzzParseRequest(f *testing.F) {
	f.Add([]byte(Request{Prompt: "a", MaxTokens: 1, TopP: 1, Stop: []string{"b"}}.JSON()))
	f.Add([]byte(`{"stop": "x", "top_k": 1e3}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := ParseRequest(terms.English, text)
		if err != nil {
			if _, ok := terms.AsRefusal(err); !ok {
				t.Fatalf("got the error %v, want a refusal", err)
			}
			return
		}
		back, err := ParseRequest(terms.English, []byte(r.JSON()))
		if err != nil || asJSON(t, back) != asJSON(t, r) {
			t.Fatalf("%+v comes back as %+v (%v), want it unchanged", r, back, err)
		}
	})
}
