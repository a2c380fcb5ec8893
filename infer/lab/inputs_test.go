package lab

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/terms"
)

func asJSON(t testing.TB, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err) // for example because a number is not finite
	}
	return string(text)
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		lab, name, value, want string // want is the value's canonical form
	}{
		{"cache", "tokens", " 12 ", "12"},
		{"cache", "tokens", "1e2", "100"},
		{"cache", "temperature", "0.70", "0.7"},
		{"cache", "temperature", "-0", "0"},
		{"cache", "seed", "9007199254740991", "9007199254740991"},
		{"prefill", "lengths", " 8, 16,8 ", "8,16"},
		{"prefill", "stream", "1", "true"},
		{"bill", "stop", "User:\r\n\\n\\n\n", "User:\n\\n\\n"},
		{"bill", "try_prompt", "", ""},
		{"memory", "preset", "gpt-2", "gpt-2"},
	} {
		l, _ := Find(c.lab)
		v, err := l.Info(terms.English).Inputs.Read(terms.Values{c.name: c.value})
		if err != nil || v[c.name] != c.want {
			t.Errorf("%s: %s %q is %q, want %q (%v)", c.lab, c.name, c.value, v[c.name], c.want, err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct {
		lab, name, value string
		wants            string // must be in the message
	}{
		{"speculation", "gamma", "0", "gamma is 0; it must be a whole number from 1 to 16 tokens"},
		{"speculation", "gamma", "17", "1 to 16 tokens"},
		{"speculation", "gamma", "2.5", "gamma is 2.5; it must be a whole number"},
		{"speculation", "gammas", "1,2,99", "whole numbers from 1 to 16 tokens, separated by commas"},
		{"speculation", "gammas", "", "separated by commas"},
		{"draw", "draws", "9", "10 to 100000 draws"},
		{"draw", "draws", "many", `draws is "many"`},
		{"draw", "draws", "", "draws is missing"},
		{"draw", "draws", "NaN", "10 to 100000 draws"},
		{"draw", "draws", "1e400", "10 to 100000 draws"},
		{"bill", "input_price", "-1", "0 to 10000 $ per million tokens"},
		{"bill", "output_price", "1e9", "0 to 10000 $ per million tokens"},
		{"bill", "requests", "-5", "a day"},
		{"bill", "stop", strings.Repeat("x", 101), "1 to 100 bytes"},
		{"bill", "stop", strings.Repeat("x\n", 9), "at most 8 strings"},
		{"bill", "top_p", "0", "above 0, up to 1"},
		{"memory", "preset", "gpt-5", "one of loaded, example-32"},
		{"memory", "memory", "0", "GiB"},
		{"prefill", "stream", "maybe", "true or false"},
		{"cache", "prompt", "", "1 to 4096 bytes of text"},
		{"cache", "prompt", "a\x00b", "NUL"},
		{"cache", "prompt", "a\xff", "UTF-8"},
	} {
		l, _ := Find(c.lab)
		v, err := l.Info(terms.English).Inputs.Read(terms.Values{c.name: c.value})
		var r *terms.RangeError
		if !errors.As(err, &r) || r.Field != c.name || !strings.Contains(r.Error(), c.wants) || v != nil {
			t.Errorf("%s: %s %q: %v, want %q", c.lab, c.name, c.value, err, c.wants)
		}
	}
}
