package api_test

import (
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"github.com/tokenbytoken/viz/web/webtest"
)

// These are fields that clients send although they have no effect: labels, and fields whose value
// turns them off.
const (
	anyones = `"user":"desk-4","metadata":{"course":"7b"},"store":true,"service_tier":"auto","safety_identifier":"x",` +
		`"prompt_cache_key":"x","prompt_cache_retention":"24h","request_id":"x","priority":3,"cache_salt":"x",` +
		`"cache_prompt":true,"id_slot":-1,"speculative.n_max":8,"stream_options":{"include_usage":false},` +
		`"n_probs":0,"min_tokens":0,"ignore_eos":false,"t_max_predict_ms":-1,"n_keep":0,"top_k":-1,"top_n_sigma":-1,` +
		`"typical_p":1.0,"min_p":0,"xtc_probability":0,"dry_multiplier":0.0,"dry_penalty_last_n":64,` +
		`"dry_sequence_breakers":["\n"],"repeat_penalty":1,"repeat_last_n":64,"frequency_penalty":0,` +
		`"presence_penalty":-0.0,"mirostat":0,"mirostat_tau":5,"mirostat_eta":0.1,"dynatemp_range":0,` +
		`"dynatemp_exponent":1,"tfs_z":1,"logit_bias":[],"grammar":"","stop":[],"stop_token_ids":[],"bad_words":[],` +
		`"length_penalty":1.0,"use_beam_search":false,"skip_special_tokens":true,"logprob_token_ids":[],"n":1`
	completions = anyones + `,"best_of":1,"suffix":"","echo":false`
	chats       = anyones + `,"tools":[],"tool_choice":"auto","parallel_tool_calls":false,"functions":[],` +
		`"function_call":"none","modalities":[ "text" ],"reasoning_effort":"none","verbosity":"medium",` +
		`"logprobs":false,"top_logprobs":0,"prediction":{"type":"content","content":"A fox"},` +
		`"response_format":{"type":"text"},"continue_final_message":false,"add_generation_prompt":true,` +
		`"chat_template_kwargs":{"enable_thinking":false}`
	listed = `{"role":"user","name":"mia","content":[{"type":"text","text":"Hi","cache_control":{"type":"x"}}]},` +
		`{"role":"assistant","content":"Yes","tool_calls":[],"refusal":null,"annotations":[],"function_call":null},` +
		`{"role":"user","content":"Who?"}`
)

// textIn matches the text of the answer in a response.
var textIn = regexp.MustCompile(`"(?:text|content)":"((?:[^"\\]|\\.)*)"`)

// TestWhatAsksForNothingChangesNothing: labels and values that turn a feature off are accepted and
// do not change the answer.
// Promise: The API accepts labels and values that turn a feature off, and they change nothing.
func TestWhatAsksForNothingChangesNothing(t *testing.T) {
	t.Parallel()
	server := webtest.Serve(t, webtest.Options{})
	for _, row := range []struct{ to, plain, more string }{
		{"completions", `"prompt":"A fox"`, `"prompt":"A fox",` + completions},
		{
			"chat/completions",
			`"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Yes"},` +
				`{"role":"user","content":"Who?"}]`, `"messages":[` + listed + `],` + chats,
		},
	} {
		var texts []string
		for _, body := range []string{row.plain, row.more} {
			answer := send(t, server+"/v1/"+row.to, `{"model":"tiny-5M","seed":7,"max_tokens":8,`+body+`}`)
			if answer.StatusCode != http.StatusOK {
				says, param := refusal(t, answer)
				t.Fatalf("%s: status %d, %s: %s; want an answer", row.to, answer.StatusCode, param, says)
			}
			body, err := io.ReadAll(answer.Body)
			if err != nil {
				t.Fatal(err)
			}
			texts = append(texts, textIn.FindString(string(body)))
		}
		if texts[0] != texts[1] || texts[0] == "" {
			t.Errorf("%s: got %s with these fields, want %s as without them", row.to, texts[1], texts[0])
		}
	}
	// The page lists each field without effect exactly once. It does not list fields that act at a
	// stage.
	page, _ := pageAt(t, server, nil)
	idle := page.Find(".glass__one").First().Find(".glass__idle code").Map(func(_ int, s *goquery.Selection) string {
		return s.Text()
	})
	for name, want := range map[string]int{
		"user": 1, "messages[].name": 1, "tools": 1, "chat_template_kwargs": 1, "top_k": 0, "response_format": 0,
	} {
		if got := strings.Count(strings.Join(idle, " ")+" ", name+" "); got != want {
			t.Errorf("the list of fields without effect is %v and contains %s %d times, want %d", idle, name, got, want)
		}
	}
}
