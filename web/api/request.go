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
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/chat"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/chance"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/shell"
)

// Limits for a request.
const (
	bodyBytes   = 256 << 10
	bodyStall   = 10 * time.Second // maximum time without receiving a byte
	bodyTime    = 2 * time.Minute  // for the whole body, which allows clients as slow as about 2 KiB a second
	maxChoices  = 16               // answers per request, in total for all prompts
	maxLogprobs = 20               // alternatives at each token
	maxMessages = 1000
	// completionTokens is the default length of a completion, as in the published API. A chat
	// continues until its turn ends.
	completionTokens = 16
)

// A request is a client's parsed request.
type request struct {
	chat     bool
	plain    bool // a chat in plain lines, for a model without a chat template
	prompts  []prompt
	settings infer.Settings // settings of the first choice; the seed increases by 1 for each additional choice
	grammar  form
	n        int   // choices per prompt
	echo     bool  // the prompt is part of the answer
	read     bool  // max_tokens is 0, so no token is generated
	logprobs int   // alternatives at each token; -1 for no log-probabilities
	named    []int // tokens that are listed after the alternatives
	stream   bool
	usage    bool     // a stream ends with the usage
	idle     []string // fields that have no effect here, by their names in others
	onlookers
}

// A prompt is a text for the model to continue.
type prompt struct {
	chat.Text
	echo  string // the part that is repeated with echo
	start bool   // the prompt was sent as token ids that include the start token
}

// readRequest reads a request. Its error is a *[problem] or a field's refusal.
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
	q.idle = setAside("", f.Rest())
	if chat {
		err = s.readMessages(r.Context(), q, f)
	} else {
		err = q.readPrompt(s.Model, f)
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
	if err := q.readNamed(s.Model, f); err != nil {
		return nil, err
	}
	q.idle = append(q.idle, setAsideUnder(q.settings.Settings, f.Rest())...)
	if err := rest(f); err != nil {
		return nil, err
	}
	watch.idles(q.idle)
	return q, nil
}

// readFields reads the body, which must be one JSON object in valid Unicode. Fields that are null
// count as missing, as in the published API.
func readFields(w http.ResponseWriter, r *http.Request) (*terms.Fields, error) {
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != "application/json" {
		p := wrong("", "unsupported_media_type", "The body must be JSON, with Content-Type: application/json.")
		p.status = http.StatusUnsupportedMediaType
		return nil, p
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, shell.NewBody(w, r, bodyStall, bodyTime), bodyBytes))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		p := wrong("", "request_too_large", "The body is limited to %d KiB.", bodyBytes>>10)
		p.status = http.StatusRequestEntityTooLarge
		return nil, p
	case err != nil:
		p := wrong("", "incomplete_body", "The request body was cut off.")
		if errors.Is(err, os.ErrDeadlineExceeded) {
			p.Message = fmt.Sprintf(
				"The request body stalled for %d seconds, or took longer than %d minutes.",
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
	f, refused := terms.JSONFields(body)
	if refused != nil {
		return nil, refused
	}
	all := f.Rest()
	maps.DeleteFunc(all, func(_ string, raw json.RawMessage) bool { return string(raw) == "null" })
	return f, nil
}

// readPrompt reads one prompt or a list of prompts. Each is a string or a list of token ids.
func (q *request) readPrompt(m *infer.Model, f *terms.Fields) error {
	raw := f.Rest()["prompt"]
	delete(f.Rest(), "prompt")
	if raw == nil {
		return wrong("prompt", "missing_required_parameter", "A completion requires a prompt.")
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		list = []json.RawMessage{raw}
	} else if len(list) > 0 && list[0][0] != '"' && list[0][0] != '[' { // a single prompt of token ids
		list = []json.RawMessage{raw}
	}
	if len(list) == 0 || len(list) > maxChoices {
		return wrong("prompt", "invalid_value",
			"prompt must be a string, a list of token ids, or a list of 1 to %d of these.", maxChoices)
	}
	for _, raw := range list {
		p, err := onePrompt(m, raw)
		if err != nil {
			return err
		}
		q.prompts = append(q.prompts, p)
	}
	return nil
}

// onePrompt reads one prompt, which is a string or a list of token ids.
func onePrompt(m *infer.Model, raw json.RawMessage) (p prompt, err error) {
	if json.Unmarshal(raw, &p.echo) == nil && raw[0] == '"' {
		p.Text.Text = p.echo
		return p, nil
	}
	var ids []int
	if json.Unmarshal(raw, &ids) != nil || len(ids) == 0 {
		return p, wrong("prompt", "invalid_value", "prompt contains %s; want a string or a nonempty list of token ids.",
			terms.Quoted(string(raw)))
	}
	p.start = ids[0] == m.Config().BOS
	p.echo = m.Decode(ids)
	p.Text, err = m.PromptOf(ids)
	return p, err
}

// asError returns a refusal as an error. It returns nil if the refusal is nil.
func asError(r *terms.Refusal) error {
	if r == nil {
		return nil
	}
	return r
}

// otherNames lists alternative knob names that newer clients and llama.cpp use.
var otherNames = []struct{ name, key string }{
	{"max_completion_tokens", "max_tokens"},
	{"n_predict", "max_tokens"},
	{"repeat_penalty", "repetition_penalty"},
}

// settingInputs are the inputs for the knobs, the logit bias and the order of the rules.
var settingInputs = func() (list terms.Inputs) {
	for _, k := range terms.Knobs() {
		k.Optional = true
		list = append(list, k.Input)
	}
	return append(list, sampling.BiasInput, sampling.OrderInput)
}()

// readSettings reads all knobs and the stop strings.
func (q *request) readSettings(m *infer.Model, f *terms.Fields) error {
	all, called := f.Rest(), map[string]string{}
	for _, other := range otherNames {
		raw, given := all[other.name]
		if !given {
			continue
		}
		if _, both := all[other.key]; both {
			return wrong(other.name, "invalid_value", "%s and %s are names of the same setting; send only one of them.",
				other.name, cmp.Or(called[other.key], other.key))
		}
		delete(all, other.name)
		all[other.key], called[other.key] = raw, other.name
	}
	if !q.chat && sameJSON("0", all["max_tokens"]) { // the text is only scored
		q.read = true
		delete(all, "max_tokens")
	}
	limit := float64(completionTokens)
	if q.chat || sameJSON("-1", all["max_tokens"]) { // only the context limits the answer
		limit = infer.MaxMaxTokens
	}
	if sameJSON("-1", all["max_tokens"]) {
		delete(all, "max_tokens")
	}
	knobs := infer.Knobs{
		"temperature": 1, "top_p": 1, "max_tokens": limit,
		"seed": float64(chance.N(context.Background(), infer.MaxSeed)),
	}
	if raw, given := all["seed"]; given {
		all["seed"] = seedHere(raw)
	}
	v := f.ReadAll(settingInputs)
	for _, key := range terms.KnobKeys() {
		if _, given := v[key]; given {
			knobs[key] = v.Float(key)
		}
	}
	err := asError(f.Err())
	if err == nil {
		q.settings, err = infer.DefaultSettings().With(knobs)
	}
	if bias := sampling.BiasOf(v); err == nil && bias != nil {
		q.settings.LogitBias, err = *bias, m.CheckBias(*bias)
	}
	if err != nil {
		r := terms.RefusalOf(err)
		return wrong(cmp.Or(called[r.Field], r.Field), "invalid_value", "%s", r.Message)
	}
	order, unnamed := sampling.OrderOf(v)
	if order != nil {
		q.settings.Order = *order
	}
	if err := q.readGrammar(f); err != nil {
		return err
	}
	if err := leavesOut(q.settings.Settings, unnamed); err != nil {
		return err
	}
	return q.readStops(f)
}

// seedHere converts a seed of the published API, which is a signed 64-bit number, to a seed of this
// program. This program's seeds have 53 bits, so that JavaScript and links can represent them
// exactly. The result is the lower 53 bits of the number, so seeds from 0 to [infer.MaxSeed] are
// unchanged. A value that is not a 64-bit number is returned unchanged, so that the knob refuses
// it.
func seedHere(raw json.RawMessage) json.RawMessage {
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil {
		return raw
	}
	return strconv.AppendUint(nil, uint64(n)&infer.MaxSeed, 10)
}

// readStops reads one stop string or a list of them. For a chat in plain lines, it adds the stop
// string that ends a turn. With a chat template, a special token ends the turn instead.
func (q *request) readStops(f *terms.Fields) error {
	text, _ := f.Read(session.StopsInput)
	list := terms.ReadLines(text)
	if err := f.Err(); err != nil {
		return err
	}
	if q.plain && q.settings.Grammar == "" { // the grammar determines the end of the text
		if len(list) >= infer.MaxStopStrings {
			return wrong("stop", "invalid_value",
				"stop has %d strings; a chat accepts at most %d, because the server adds one that ends the turn.",
				len(list), infer.MaxStopStrings-1)
		}
		if !slices.Contains(list, chat.PlainStop) {
			list = append(list, chat.PlainStop)
		}
	}
	q.settings.Stop.Strings = list
	return q.settings.Check()
}

// readForm reads the fields that determine the format of the answer.
func (q *request) readForm(f *terms.Fields) error {
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
		return wrong("n", "invalid_value", "%d prompts with n = %d would be %d answers; a request may have at most %d.",
			len(q.prompts), q.n, len(q.prompts)*q.n, maxChoices)
	case q.read && !q.echo:
		return wrong("max_tokens", "invalid_value", "max_tokens is 0, which only scores the prompt and requires echo.")
	}
	return q.readStreamOptions(f)
}

// readChatLogprobs reads whether to include log-probabilities in the answer, and the number of
// alternatives.
func (q *request) readChatLogprobs(f *terms.Fields) {
	if f.Has("logprobs") && f.Truth("logprobs") {
		q.logprobs = 0
	}
	if f.Has("top_logprobs") && q.logprobs == 0 {
		q.logprobs = int(f.Whole("top_logprobs", 0, maxLogprobs))
	}
}

// readStreamOptions reads whether a stream should end with the usage.
func (q *request) readStreamOptions(f *terms.Fields) error {
	raw := f.Rest()["stream_options"]
	if raw == nil {
		return nil
	}
	delete(f.Rest(), "stream_options")
	options, refused := terms.JSONFields(raw)
	if refused != nil {
		return wrong("stream_options", "invalid_value", "stream_options must be an object.")
	}
	q.idle = append(q.idle, setAside("stream_options.", options.Rest())...)
	if len(options.Rest()) > 0 && !q.stream {
		return wrong("stream_options", "invalid_value", "stream_options can only be used with stream.")
	}
	if options.Has("include_usage") {
		q.usage = options.Truth("include_usage")
	}
	if err := options.Err(); err != nil {
		return wrong("stream_options.include_usage", "invalid_value", "%s", err.Message)
	}
	for name := range options.Rest() {
		return unsupported("stream_options."+name, "the only option here is include_usage")
	}
	return nil
}
