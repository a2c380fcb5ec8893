package api_test

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/webtest"
)

// TestNumbersOutOfRangeAreRefused: every numeric field refuses values that are not numbers or are
// out of range, and the error names the field. A valid request is answered afterwards.
func TestNumbersOutOfRangeAreRefused(t *testing.T) {
	t.Parallel()
	server := webtest.Serve(t, webtest.Options{}) + "/v1/"
	both := []string{"n"}
	for _, k := range terms.Knobs() {
		both = append(both, k.Key)
	}
	n := 0
	for to, fields := range map[string][]string{
		"completions": append(both, "logprobs"), "chat/completions": append(both, "top_logprobs"),
	} {
		ask := with
		if to == "chat/completions" {
			ask = func(field string) string { return said(`"logprobs":true,` + field) }
		}
		for _, field := range fields {
			for _, x := range []string{
				"1e308", "-1e308", "1e999", "-1e999", "-0.5e-400x", "9007199254740993e3",
				"NaN", "Infinity", "-Infinity",
				"0x10", "1_000", "٣", "+1", `"much"`, `"1e"`, `""`, "[1]", `{"a":1}`, "tru",
				strings.Repeat("9", 10_000), "0." + strings.Repeat("0", 10_000) + "x",
			} {
				answer := send(t, server+to, ask(`"`+field+`":`+x))
				says, param := refusal(t, answer)
				answer.Body.Close()
				// If the body is not valid JSON, the error cannot name a field.
				notJSON := strings.Contains(says, "one JSON object")
				if answer.StatusCode != http.StatusBadRequest || param != field && !notJSON || len(says) > 1000 {
					t.Errorf(
						"%s: %s = %.30s: got status %d, field %q: %.200s; want 400 with this field, in "+
							"at most 1000 bytes",
						to, field, x, answer.StatusCode, param, says,
					)
				}
				n++
			}
		}
		if answer := send(t, server+to, ask(`"max_tokens":1`)); answer.StatusCode != http.StatusOK {
			t.Errorf("after that, a valid request: status %d, want %d", answer.StatusCode, http.StatusOK)
		}
	}
	t.Logf("%d requests", n)
}

// TestNonUTF8BodiesAreRefused: a body that is not UTF-8 is refused. The server does not guess its
// encoding.
func TestNonUTF8BodiesAreRefused(t *testing.T) {
	t.Parallel()
	server := webtest.Serve(t, webtest.Options{}) + "/v1/completions"
	body := with(`"max_tokens":1`)
	var wide strings.Builder // UTF-16 of ASCII
	wide.WriteString("\xff\xfe")
	for _, b := range []byte(body) {
		wide.Write([]byte{b, 0})
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write([]byte(body)); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct{ body, says string }{
		"UTF-16":                       {wide.String(), "not valid UTF-8"},
		"UTF-16 without a mark":        {wide.String()[2:], "one JSON object"},
		"Latin-1":                      {strings.ReplaceAll(body, "fox", "f\xf6x"), "not valid UTF-8"},
		"a byte order mark":            {"\ufeff" + body, "one JSON object"},
		"gzip":                         {packed.String(), "not valid UTF-8"},
		"a longer form of a slash":     {strings.ReplaceAll(body, "fox", "f\xc0\xafx"), "not valid UTF-8"},
		"half of a character, spelled": {strings.ReplaceAll(body, "fox", `\udc00`), "unpaired surrogate"},
	} {
		answer := send(t, server, row.body, "Content-Encoding", "identity")
		says, _ := refusal(t, answer)
		if answer.StatusCode != http.StatusBadRequest || !strings.Contains(says, row.says) {
			t.Errorf(
				"%s: status %d: %s; want %d, a message with %q", name, answer.StatusCode, says, http.StatusBadRequest,
				row.says,
			)
		}
	}
}
