package api

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/session"
)

// answerTime is the maximum time for a request. fullWait is how long a client should wait before it
// retries if the server is full.
const (
	answerTime = 10 * time.Minute
	fullWait   = 5 * time.Second
)

// completions returns the handler for text completions or for chat completions.
func (s *Server) completions(chat bool) func(http.ResponseWriter, *http.Request, admission.Caller) error {
	return func(w http.ResponseWriter, r *http.Request, who admission.Caller) error {
		var watch *watched
		if code, ok := s.shelfOf(r, who); ok {
			watch = s.glass.begin(code, r.Method+" "+r.URL.Path)
		}
		_, err := s.respond(w, r, who, chat, onlookers{watch: watch})
		return err
	}
}

// onlookers observe a request while it is being answered.
type onlookers struct {
	seen  func(*session.State) // called with the last state of each choice; can be nil
	watch *watched             // the request as shown on the /api page; can be nil
}

// respond sends the response to a request and returns the parsed request.
func (s *Server) respond(
	w http.ResponseWriter, r *http.Request, who admission.Caller, chat bool, by onlookers,
) (q *request, err error) {
	var bill usage
	defer func() {
		if x := recover(); x != nil {
			by.watch.ends(bill, ofStatus(http.StatusInternalServerError, "Something went wrong. It has been logged."))
			panic(x)
		}
		by.watch.ends(bill, stoppedBy(r, err))
	}()
	place, err := s.hold(who)
	if err != nil {
		return nil, err
	}
	defer place.Release()
	q, err = s.readRequest(w, r, chat, by.watch)
	if err != nil {
		return nil, err
	}
	q.onlookers = by
	ctx, cancel := context.WithTimeout(r.Context(), answerTime)
	defer cancel()
	defer context.AfterFunc(s.Context, cancel)()
	if err := s.compile(ctx, who, q); err != nil {
		return nil, err
	}
	out := newOutput(w, s.Model, q)
	if err := s.choices(ctx, who, q, out); err != nil {
		by.watch.ends(out.usage, stoppedBy(r, err))
		return q, out.fail(err)
	}
	bill = out.bill()
	return q, out.end()
}

// hold reserves one of the slots for concurrent requests.
func (s *Server) hold(who admission.Caller) (*admission.Permit, error) {
	place, refused := s.Places.Hold(who, nil)
	switch refused {
	case admission.OwnFull:
		return nil, full("You have reached the limit of concurrent requests per client. Wait for one to finish.")
	case admission.Full:
		return nil, full("The server is answering as many requests as it can. Try again in a moment.")
	}
	return place, nil
}

// unread reports whether a request failed because its body did not arrive. Such a failure cancels
// the request's context even though the client may still be connected.
func unread(err error) bool {
	var p *problem
	return errors.As(err, &p) && p.status == http.StatusRequestTimeout
}

// stoppedBy returns the problem that the page shows for a request that failed. It is nil if the
// request was completed.
func stoppedBy(r *http.Request, err error) *problem {
	switch {
	case err == nil:
		return nil
	case r.Context().Err() != nil && !unread(err):
		return ofStatus(http.StatusRequestTimeout, "The client disconnected before the answer was complete.")
	}
	p, _ := problemOf(err)
	return p
}

// choices generates all choices of a request, one after another.
func (s *Server) choices(ctx context.Context, who admission.Caller, q *request, out *output) error {
	for i, prompt := range q.prompts {
		for choice := range q.n {
			index := i*q.n + choice
			read := 0
			if q.echo {
				p, n, err := s.echo(ctx, q, prompt)
				if err != nil {
					return err
				}
				read = n
				if err := out.add(index, p); err != nil {
					return err
				}
			}
			var got counts
			var err error
			if !q.read {
				t := text{prompt: prompt.Text, choice: choice}
				if index == 0 {
					t.watch = q.watch
				}
				got, err = s.write(ctx, who, q, t, func(p delta) error { return out.add(index, p) })
				if err != nil {
					return err
				}
				read = got.prompt
			}
			if choice == 0 { // each prompt is charged once
				out.usage.Prompt += read
			}
			out.usage.Completion += got.written
		}
	}
	return nil
}

// usage holds the token counts of a request. The start mark counts as a prompt token.
type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
}

// An answer is the body of a response, or one event of a stream.
type answer struct {
	ID          string   `json:"id"`
	Object      string   `json:"object"`
	Created     int64    `json:"created"`
	Model       string   `json:"model"`
	Fingerprint string   `json:"system_fingerprint"`
	Choices     []choice `json:"choices"`
	Usage       *usage   `json:"usage,omitempty"`
}

// A choice is one generated answer or, in a stream, the part of it that one step added. Exactly one
// of Text, Message and Delta is set.
type choice struct {
	Index    int      `json:"index"`
	Text     *string  `json:"text,omitempty"`
	Message  *message `json:"message,omitempty"`
	Delta    *message `json:"delta,omitempty"`
	Logprobs any      `json:"logprobs"`
	Finish   *string  `json:"finish_reason"`
}

type message struct {
	Role    string  `json:"role,omitempty"`
	Content *string `json:"content,omitempty"`
}

// textLogprobs holds the log-probabilities of a completion in parallel lists with one entry per
// token.
type textLogprobs struct {
	Tokens  []string             `json:"tokens"`
	Probs   []*float64           `json:"token_logprobs"` // null for the first token, which has no probability
	Top     []map[string]float64 `json:"top_logprobs"`
	Offsets []int                `json:"text_offset"` // in characters
}

// chatLogprobs holds the log-probabilities of a chat.
type chatLogprobs struct {
	Content []chatToken `json:"content"`
	Refusal *string     `json:"refusal"`
}

type chatToken struct {
	chatChance
	Top []chatChance `json:"top_logprobs"`
}

type chatChance struct {
	Token string  `json:"token"`
	Prob  float64 `json:"logprob"`
	Bytes []int   `json:"bytes"` // the bytes of the token, which may be part of a character
}

func chanceOf(t infer.Token, logProb float64) chatChance {
	c := chatChance{Token: t.Text, Prob: logProb, Bytes: []int{}}
	c.Bytes = append(c.Bytes, numbers(spelled(t))...)
	return c
}

// numbers returns bytes as JSON numbers.
func numbers(bytes []byte) (list []int) {
	for _, b := range bytes {
		list = append(list, int(b))
	}
	return list
}

func chatLogprobsOf(tokens []token) chatLogprobs {
	list := chatLogprobs{Content: []chatToken{}}
	for _, t := range tokens {
		c := chatToken{chanceOf(t.Token, t.LogProb), []chatChance{}}
		for _, other := range t.Top {
			c.Top = append(c.Top, chanceOf(other.Token, other.LogProb))
		}
		list.Content = append(list.Content, c)
	}
	return list
}

// textLogprobsOf lists the given tokens. from is the index of the character at which the first
// token begins. If several alternatives have the same text, only the most probable one is listed
// under that text. The others are listed by id if the request named them.
func textLogprobsOf(tokens []token, from int, named []int) (list textLogprobs, to int) {
	list = textLogprobs{[]string{}, []*float64{}, []map[string]float64{}, []int{}}
	for _, t := range tokens {
		list.Tokens = append(list.Tokens, t.Token.Text)
		list.Offsets = append(list.Offsets, from)
		from += utf8.RuneCount(spelled(t.Token))
		if t.First {
			list.Probs, list.Top = append(list.Probs, nil), append(list.Top, nil)
			continue
		}
		top := map[string]float64{}
		for _, other := range t.Top {
			name := other.Token.Text
			if _, listed := top[name]; listed && slices.Contains(named, other.Token.ID) {
				name = "token_id:" + strconv.Itoa(other.Token.ID) // how vLLM names a token by id
			}
			if _, listed := top[name]; !listed {
				top[name] = other.LogProb
			}
		}
		list.Probs, list.Top = append(list.Probs, &t.LogProb), append(list.Top, top)
	}
	return list, from
}

// newID returns a random id for an answer.
func newID(kind string) string {
	var b [12]byte
	rand.Read(b[:]) // never fails
	return kind + base64.RawURLEncoding.EncodeToString(b[:])
}
