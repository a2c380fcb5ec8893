package api

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"os"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/chat"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/chance"
	"github.com/tokenbytoken/viz/web/pages"
	"github.com/tokenbytoken/viz/web/session"
)

// Bounds of a request.
const (
	bodyBytes   = 256 << 10
	bodyStall   = 10 * time.Second // without a byte of it
	bodyTime    = 2 * time.Minute  // for all of it: some 2 KiB a second
	maxChoices  = 16               // answers of one request, over all its prompts
	maxLogprobs = 20               // alternatives at each token
	maxMessages = 1000
	// completionTokens is how much a completion writes that does not say, as in the
	// published API. A chat goes on until its turn ends.
	completionTokens = 16
)

// request is a request as it was read.
type request struct {
	chat     bool
	plain    bool // a chat as plain lines, for a model without a chat template
	prompts  []chat.Text
	settings infer.Settings // of the first choice; the n-th has a seed n−1 higher
	n        int            // choices of each prompt
	echo     bool           // the prompt is part of the answer
	read     bool           // nothing is written: max_tokens is 0
	logprobs int            // alternatives at each token; -1 for no log-probabilities
	stream   bool
	usage    bool // a stream ends with its usage
	onlookers
}

// readRequest reads a request. The error is a *[problem] or a refusal of a field.
func (s *Server) readRequest(
	w http.ResponseWriter, r *http.Request, chat bool, watch *watched,
) (*request, error) {
	f, err := readFields(w, r)
	if err != nil {
		return nil, err
	}
	watch.asks(f.Rest())
	model := f.Text("model")
	if err := f.Err(); err != nil {
		return nil, err
	}
	if err := s.named(model); err != nil {
		return nil, err
	}
	q := &request{chat: chat, n: 1, logprobs: -1}
	if chat {
		err = s.readMessages(r.Context(), q, f)
	} else {
		err = q.readPrompt(f)
	}
	if err != nil {
		return nil, err
	}
	if err := q.readSettings(s.Model, f); err != nil {
		return nil, err
	}
	if err := q.readForm(f); err != nil {
		return nil, err
	}
	return q, rest(f)
}

// readFields reads the body: one JSON object of valid Unicode. Fields that are null
// count as missing, as in the published API.
func readFields(w http.ResponseWriter, r *http.Request) (*session.Fields, error) {
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != "application/json" {
		p := wrong("", "unsupported_media_type", "The body must be JSON, with Content-Type: application/json.")
		p.status = http.StatusUnsupportedMediaType
		return nil, p
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, pages.NewBody(w, r, bodyStall, bodyTime), bodyBytes))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		p := wrong("", "request_too_large", "The body is limited to %d KiB.", bodyBytes>>10)
		p.status = http.StatusRequestEntityTooLarge
		return nil, p
	case err != nil:
		p := wrong("", "incomplete_body", "The body did not arrive whole.")
		if errors.Is(err, os.ErrDeadlineExceeded) {
			p.Message = fmt.Sprintf(
				"The body stopped: nothing of it came for %d seconds, or it took longer than %d minutes.",
				int(bodyStall.Seconds()), int(bodyTime.Minutes()),
			)
		}
		p.status = http.StatusRequestTimeout
		return nil, p
	case !utf8.Valid(body):
		return nil, wrong("", "invalid_encoding", "The body is not valid UTF-8.")
	case !json.Valid(body) || !bytes.HasPrefix(bytes.TrimSpace(body), []byte("{")):
		return nil, wrong("", "invalid_json", "The body must be one JSON object.")
	}
	f, refused := session.JSONFields(body)
	if refused != nil {
		return nil, refused
	}
	all := f.Rest()
	maps.DeleteFunc(all, func(_ string, raw json.RawMessage) bool { return string(raw) == "null" })
	return f, nil
}

// readPrompt reads one text or a list of texts.
func (q *request) readPrompt(f *session.Fields) error {
	switch raw := f.Rest()["prompt"]; {
	case raw == nil:
		return wrong("prompt", "missing_required_parameter", "A completion needs a prompt.")
	case raw[0] == '"':
		q.prompts = []chat.Text{{Text: f.Text("prompt")}}
	default:
		if texts := (*[]json.Number)(nil); json.Unmarshal(raw, &texts) == nil && len(*texts) > 0 &&
			!bytes.Contains(raw, []byte(`"`)) {
			return wrong("prompt", "unsupported_value",
				"This server takes prompts as text, or a list of texts, not as token ids.")
		}
		for _, text := range f.Texts("prompt") {
			q.prompts = append(q.prompts, chat.Text{Text: text})
		}
		if len(q.prompts) == 0 || len(q.prompts) > maxChoices {
			return wrong("prompt", "invalid_value", "prompt must be a text or a list of 1 to %d texts.", maxChoices)
		}
	}
	return asError(f.Err())
}

// asError is a refusal as an error that is nil if there is none.
func asError(r *terms.Refusal) error {
	if r == nil {
		return nil
	}
	return r
}

// otherNames are further names of knobs: those of newer clients and of llama.cpp.
var otherNames = []struct{ name, key string }{
	{"max_completion_tokens", "max_tokens"},
	{"n_predict", "max_tokens"},
	{"repeat_penalty", "repetition_penalty"},
}

// readSettings reads the knobs, whatever knobs there are, and the stop strings.
func (q *request) readSettings(m *infer.Model, f *session.Fields) error {
	all, called := f.Rest(), map[string]string{}
	for _, other := range otherNames {
		raw, given := all[other.name]
		if !given {
			continue
		}
		if _, both := all[other.key]; both {
			return wrong(other.name, "invalid_value", "%s and %s are two names of one setting; send one of them.",
				other.name, cmp.Or(called[other.key], other.key))
		}
		delete(all, other.name)
		all[other.key], called[other.key] = raw, other.name
	}
	if !q.chat && string(all["max_tokens"]) == "0" { // the text is only read
		q.read = true
		delete(all, "max_tokens")
	}
	knobs := infer.Knobs{
		"temperature": 1, "top_p": 1, "max_tokens": completionTokens,
		"seed": float64(chance.N(context.Background(), infer.MaxSeed)),
	}
	if q.chat {
		knobs["max_tokens"] = infer.MaxMaxTokens
	}
	for _, k := range terms.Knobs() {
		f.Knob(k, knobs)
	}
	bias := f.Bias("logit_bias")
	order, unnamed := readOrder(f)
	err := asError(f.Err())
	if err == nil {
		q.settings, err = infer.DefaultSettings().With(knobs)
	}
	if err == nil && bias != nil {
		q.settings.LogitBias, err = *bias, m.CheckBias(*bias)
	}
	if err != nil {
		r := terms.RefusalOf(err)
		return wrong(cmp.Or(called[r.Field], r.Field), "invalid_value", "%s", r.Message)
	}
	q.settings.Order = order
	if err := q.readGrammar(f); err != nil {
		return err
	}
	if err := leavesOut(q.settings.Settings, unnamed); err != nil {
		return err
	}
	return q.readStops(f)
}

// readStops reads one stop string or a list of them. A conversation in plain lines has
// one of its own; where a chat template writes it, the end of a turn is a token.
func (q *request) readStops(f *session.Fields) error {
	var list []string
	if raw := f.Rest()["stop"]; raw != nil && raw[0] == '"' {
		list = []string{f.Text("stop")}
	} else if raw != nil {
		list = f.Texts("stop")
	}
	if err := f.Err(); err != nil {
		return err
	}
	if q.plain && q.settings.Grammar == "" { // what keeps to a grammar ends by itself
		if len(list) >= infer.MaxStopStrings {
			return wrong("stop", "invalid_value",
				"stop has %d strings; a chat takes at most %d, since its turns end with one of their own.",
				len(list), infer.MaxStopStrings-1)
		}
		if !slices.Contains(list, chat.PlainStop) {
			list = append(list, chat.PlainStop)
		}
	}
	q.settings.Stop.Strings = list
	return q.settings.Check()
}

// readForm reads what the answer looks like.
func (q *request) readForm(f *session.Fields) error {
	if f.Has("n") {
		q.n = int(f.Whole("n", 1, maxChoices))
	}
	if f.Has("stream") {
		q.stream = f.Truth("stream")
	}
	if q.chat {
		q.readChatLogprobs(f)
	} else {
		if f.Has("echo") {
			q.echo = f.Truth("echo")
		}
		if f.Has("logprobs") {
			q.logprobs = int(f.Whole("logprobs", 0, maxLogprobs))
		}
	}
	if err := f.Err(); err != nil {
		return err
	}
	switch {
	case len(q.prompts)*q.n > maxChoices:
		return wrong("n", "invalid_value", "%d prompts with n = %d are %d answers; a request has at most %d.",
			len(q.prompts), q.n, len(q.prompts)*q.n, maxChoices)
	case q.read && !q.echo:
		return wrong("max_tokens", "invalid_value", "max_tokens is 0, which reads a text and needs echo.")
	}
	return q.readStreamOptions(f)
}

// readChatLogprobs reads whether there are log-probabilities, and of how many
// alternatives.
func (q *request) readChatLogprobs(f *session.Fields) {
	if f.Has("logprobs") && f.Truth("logprobs") {
		q.logprobs = 0
	}
	if f.Has("top_logprobs") && q.logprobs == 0 {
		q.logprobs = int(f.Whole("top_logprobs", 0, maxLogprobs))
	}
}

// readStreamOptions reads whether a stream ends with its usage.
func (q *request) readStreamOptions(f *session.Fields) error {
	raw := f.Rest()["stream_options"]
	if raw == nil {
		return nil
	}
	if !q.stream {
		return wrong("stream_options", "invalid_value", "stream_options is for requests with stream.")
	}
	delete(f.Rest(), "stream_options")
	options, refused := session.JSONFields(raw)
	if refused != nil {
		return wrong("stream_options", "invalid_value", "stream_options must be an object.")
	}
	if options.Has("include_usage") {
		q.usage = options.Truth("include_usage")
	}
	if err := options.Err(); err != nil {
		return wrong("stream_options.include_usage", "invalid_value", "%s", err.Message)
	}
	for name := range options.Rest() {
		return unsupported("stream_options."+name, "the option that it has is include_usage")
	}
	return nil
}

// harmless are fields that this server does not have, with the value that asks for
// nothing: clients send them along.
var harmless = map[string]string{
	"best_of": "1", "repeat_last_n": "-1", "modalities": `["text"]`,
	"tools": "[]", "store": "false",
	"top_logprobs": "0",
}

// missing says why the published fields that this server lacks are refused.
var missing = map[string]string{
	"tools": noTools, "tool_choice": noTools, "parallel_tool_calls": noTools, "functions": noTools,
	"function_call": noTools, "audio": noText, "modalities": noText, "prediction": noText,
	"suffix":        "the model writes after a text, not before one",
	"best_of":       "every answer that is written is returned; see n",
	"grammar":       "grammars are given as json_schema or as regex",
	"top_logprobs":  "it needs logprobs: true",
	"repeat_last_n": "the repetition penalty looks at the whole text, -1",
	"user":          "nothing is kept that it could be noted with",
	"metadata":      "nothing is kept that it could be noted with",
	"store":         "answers are not kept",
}

const (
	noTools = "the model calls no tools"
	noText  = "the model reads and writes text only"
)

// rest refuses the first field that nobody has read; tools before what is said of them.
func rest(f *session.Fields) error {
	all := f.Rest()
	for name, off := range harmless {
		var compact bytes.Buffer
		if raw := all[name]; raw != nil && json.Compact(&compact, raw) == nil && compact.String() == off {
			delete(all, name)
		}
	}
	if len(all) == 0 {
		return nil
	}
	name := slices.Min(slices.Collect(maps.Keys(all)))
	if _, given := all["tools"]; given {
		name = "tools"
	}
	if why := missing[name]; why != "" {
		return unsupported(name, why)
	}
	return wrong(terms.Shortened(name, 40), "unknown_parameter", "This address has no field %s.", terms.Quoted(name))
}
