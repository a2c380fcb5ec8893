package session

import (
	"encoding/json"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
)

// TestLinkSettingsFormat: settings that are off are omitted from a link, and parsing the link turns
// them off. The strings come from links that are in use, so they must not change.
func TestLinkSettingsFormat(t *testing.T) {
	for text, want := range map[string]infer.Settings{
		`{"f":3,"t":0.7,"p":0.9,"r":42,"x":64}`: {
			Settings: sampling.Settings{Temperature: 0.7, TopP: 0.9}, Seed: 42, Stop: infer.Stop{MaxTokens: 64},
		},
		`{"f":3,"t":0,"k":5,"p":1,"m":0.05,"y":0.5,"o":1.3,"r":9007199254740991,"x":1,"s":["\n"]}`: {
			Settings: sampling.Settings{TopK: 5, TopP: 1, MinP: 0.05, TypicalP: 0.5, RepetitionPenalty: 1.3},
			Seed:     infer.MaxSeed, Stop: infer.Stop{MaxTokens: 1, Strings: []string{"\n"}},
		},
	} {
		got, err := json.Marshal(wireChange{3, wireSettings(want)})
		if err != nil || string(got) != text {
			t.Errorf("%+v is encoded as %s (%v), want %s", want, got, err, text)
		}
		var c wireChange
		err = json.Unmarshal([]byte(text), &c)
		if err != nil || c.From != 3 || !infer.Settings(c.Settings).Equal(want) {
			t.Errorf("%s is parsed as %+v (%v), want %+v", text, c, err, want)
		}
	}
	for _, text := range []string{`{"k":1.5}`, `{"r":-1}`, `{"x":1e300}`, `{"t":"1"}`, `{"s":"a"}`, `[]`} {
		if err := new(wireSettings).UnmarshalJSON([]byte(text)); err == nil {
			t.Errorf("%s was accepted, want an error", text)
		}
	}
}

// TestLinkLettersAreUnique: every knob has a different letter.
func TestLinkLettersAreUnique(t *testing.T) {
	of := map[string]string{
		stopLetter: "stop strings", biasLetter: "the logit bias", orderLetter: "the order of the rules",
		"f": "the step of a change",
	}
	for _, k := range terms.Knobs() {
		if len(k.Letter) != 1 || of[k.Letter] != "" {
			t.Errorf(`%s has the letter %q, which also belongs to %q; want 1 byte, ""`, k.Key, k.Letter, of[k.Letter])
		}
		of[k.Letter] = k.Key
	}
}

// TestSetTakesALogitBias: a logit bias is accepted as JSON and from a form, and links keep it.
func TestSetTakesALogitBias(t *testing.T) {
	f, refused := terms.JSONFields([]byte(`{"logit_bias": {"7": -100, "3": 2.5}, "frequency_penalty": 0.5}`))
	if refused != nil {
		t.Fatalf("JSONFields: got refusal %v, want none", refused)
	}
	c, _, refused := Commands.Read("set", f)
	form, _, wrong := Commands.Read("set", terms.TextFields(map[string]string{"logit_bias": "7:-100, 3:2.5"}))
	if refused != nil || wrong != nil || *c.(Set).Bias != "3:2.5,7:-100" || *form.(Set).Bias != *c.(Set).Bias {
		t.Fatalf(
			"got %+v (%v), %+v (%v); want no error, *c.(Set).Bias = %q, *form.(Set).Bias = %q", c, refused, form, wrong,
			"3:2.5,7:-100", *c.(Set).Bias,
		)
	}
	s, err := c.(Set).on(infer.DefaultSettings())
	if err != nil || s.LogitBias != "3:2.5,7:-100" || s.FrequencyPenalty != 0.5 {
		t.Fatalf("got %+v, %v; want no error, LogitBias = %q, FrequencyPenalty = 0.5", s, err, "3:2.5,7:-100")
	}
	text, err := wireSettings(s).MarshalJSON()
	var back wireSettings
	if err != nil || back.UnmarshalJSON(text) != nil || !infer.Settings(back).Equal(s) {
		t.Errorf("%s is parsed as %+v (%v); want no error, infer.Settings(back) = %+v", text, back, err, s)
	}
	f, _ = terms.JSONFields([]byte(`{"logit_bias": {"7": 101}}`))
	if _, _, refused := Commands.Read("set", f); refused == nil || refused.Field != "logit_bias" ||
		refused.Message != "The logit bias is 101 for token 7; it must be from -100 to 100." {
		t.Errorf(
			"a bias of 101: got %v, want an error, Field = %q, Message = %q", refused, "logit_bias",
			"The logit bias is 101 for token 7; it must be from -100 to 100.",
		)
	}
}
