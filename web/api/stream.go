package api

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/tokenbytoken/viz/infer"
)

// sendWait is how long a client can take to read an event or a whole answer.
const sendWait = 10 * time.Second

// An output collects the deltas of a request's choices, or streams them.
type output struct {
	w       http.ResponseWriter
	control *http.ResponseController
	q       *request
	head    answer // without choices
	begun   bool   // a stream has already sent an event
	usage   usage
	chosen  []*collected // choices, by index
}

// collected holds what a choice's deltas add up to so far.
type collected struct {
	delta
	offset int  // number of characters in the tokens sent so far
	begun  bool // a stream has sent a part of it
}

func newOutput(w http.ResponseWriter, m *infer.Model, q *request) *output {
	o := &output{w: w, control: http.NewResponseController(w), q: q, head: answer{
		ID: newID("cmpl-"), Object: "text_completion", Created: time.Now().Unix(), Model: m.Name(),
		Fingerprint: "fp_" + m.Hash()[:12], Choices: []choice{},
	}}
	if q.chat {
		o.head.ID, o.head.Object = newID("chatcmpl-"), "chat.completion"
		if q.stream {
			o.head.Object = "chat.completion.chunk"
		}
	}
	for range len(q.prompts) * q.n {
		o.chosen = append(o.chosen, &collected{})
	}
	return o
}

// add adds a delta to a choice.
func (o *output) add(index int, p delta) error {
	c := o.chosen[index]
	if !o.q.stream {
		c.text, c.tokens, c.end = c.text+p.text, append(c.tokens, p.tokens...), p.end
		return nil
	}
	if p.text == "" && len(p.tokens) == 0 && p.end == "" {
		return nil
	}
	first := !c.begun
	c.begun = true
	event := o.head
	event.Choices = []choice{o.choice(index, c, p)}
	if o.q.chat {
		d := &message{Content: &p.text}
		if first {
			d.Role = "assistant"
		}
		event.Choices[0].Message, event.Choices[0].Delta = nil, d
	}
	return o.event(event)
}

// choice converts a delta to the form of a choice in an answer.
func (o *output) choice(index int, c *collected, p delta) choice {
	x := choice{Index: index}
	if p.end != "" {
		x.Finish = &p.end
	}
	if o.q.chat {
		x.Message = &message{Role: "assistant", Content: &p.text}
		if o.q.logprobs >= 0 {
			x.Logprobs = chatLogprobsOf(p.tokens)
		}
		return x
	}
	x.Text = &p.text
	if o.q.logprobs >= 0 {
		x.Logprobs, c.offset = textLogprobsOf(p.tokens, c.offset, o.q.named)
	}
	return x
}

// event sends one event immediately. It disconnects a client that does not read the event in time.
func (o *output) event(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return o.line(text)
}

func (o *output) line(text []byte) error {
	if !o.begun {
		o.begun = true
		h := o.w.Header()
		h.Set("Content-Type", "text/event-stream; charset=utf-8")
		h.Set("Cache-Control", "no-store")
		h.Set("X-Accel-Buffering", "no") // proxies then forward events immediately
	}
	_ = o.control.SetWriteDeadline(time.Now().Add(sendWait)) // not supported in tests
	if _, err := o.w.Write(append(append([]byte("data: "), text...), "\n\n"...)); err != nil {
		return err
	}
	return o.control.Flush()
}

// bill returns the usage of the request so far, including the total.
func (o *output) bill() usage {
	return usage{o.usage.Prompt, o.usage.Completion, o.usage.Prompt + o.usage.Completion}
}

// end sends the answer, or the end of the stream.
func (o *output) end() error {
	o.usage = o.bill()
	if o.q.stream {
		if o.q.usage {
			last := o.head
			last.Usage = &o.usage
			if err := o.event(last); err != nil {
				return err
			}
		}
		return o.line([]byte("[DONE]"))
	}
	all := o.head
	for i, c := range o.chosen {
		all.Choices = append(all.Choices, o.choice(i, c, c.delta))
	}
	all.Usage = &o.usage
	reply(o.w, http.StatusOK, all)
	return nil
}

// fail returns an error, or sends it as the last event of a stream that has begun.
func (o *output) fail(err error) error {
	if o.q.chat {
		if p, _ := problemOf(err); p.Param != nil && *p.Param == "prompt" { // the prompt was built from the messages
			err = wrong("messages", *p.Code, "The messages, as one text, are too long or invalid: %s", p.Message)
		}
	}
	if !o.begun {
		return err
	}
	p, logged := problemOf(err)
	_ = o.event(p.body()) // on an error, the client has disconnected
	if logged {
		return errSent{err}
	}
	return nil
}

// errSent is a failure that has already been sent to the client.
type errSent struct{ error }
