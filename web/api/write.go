package api

import (
	"context"
	"errors"
	"net/http"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/chat"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/loop/runs"
	"github.com/tokenbytoken/viz/web/session"
)

// A token is one of an answer's tokens, with its log-probabilities.
type token struct {
	infer.ReadToken
	offset int // position, in bytes, in the text of all tokens of the answer
	size   int // bytes
}

// A delta is what one step adds to a choice: text that can no longer change, and the tokens that
// begin in it. Both can be empty while the text might still become a stop string.
type delta struct {
	text   string
	tokens []token
	end    string // finish_reason, "" before the end
}

// counts holds a request's numbers of prompt tokens and generated tokens.
type counts struct{ prompt, written int }

// A writer converts the steps of a run to deltas.
type writer struct {
	model    *infer.Model
	logprobs int   // as in [request]
	named    []int // as in [request]
	echo     bool  // the answer includes the prompt, so it lists every token of the prompt and every generated token
	pending  []token
	raw      int // number of bytes in all tokens so far
}

// finish returns the published name of the reason why a text ended.
func finish(why infer.StopReason) string {
	switch why {
	case infer.StopNone:
		return ""
	case infer.StopEOS, infer.StopString:
		return "stop"
	}
	return "length"
}

// delta returns what a step adds to a choice. It omits the tokens that are not part of the text
// because of a stop string or the end of the text. The exception is an answer with an echo: it
// includes the end-of-text token, because clients that use echo count tokens.
func (w *writer) delta(step *infer.Step) delta {
	t := token{ReadToken: infer.ReadToken{Token: w.model.Token(step.Chosen)}, offset: w.raw}
	if w.logprobs >= 0 {
		t.LogProb, t.Top = w.model.Chances(step.Logits, step.Chosen, w.logprobs, w.named...)
	}
	t.size = len(spelled(t.Token))
	w.raw += t.size
	if step.Stop != infer.StopEOS || w.echo {
		w.pending = append(w.pending, t)
	}
	p := delta{text: step.Text, end: finish(step.Stop)}
	released := w.raw - len(step.Held)
	for len(w.pending) > 0 {
		t := w.pending[0]
		if t.offset >= released && (t.size > 0 || t.offset > released) {
			break
		}
		p.tokens, w.pending = append(p.tokens, t), w.pending[1:]
	}
	if step.Stop == infer.StopEOS && w.echo {
		p.tokens, w.pending = append(p.tokens, w.pending...), nil
	}
	return p
}

// spelled returns the bytes of a token. A special token has none.
func spelled(t infer.Token) []byte {
	switch {
	case t.Special:
		return nil
	case t.Bytes != nil:
		return t.Bytes
	}
	return []byte(t.Text)
}

// A text identifies one of the texts generated for a request.
type text struct {
	prompt chat.Text
	choice int      // index among the choices for this prompt
	watch  *watched // nil for all texts but the first
}

// write runs one choice and passes its deltas to emit as they are generated.
func (s *Server) write(
	ctx context.Context, who admission.Caller, q *request, t text, emit func(delta) error,
) (counts, error) {
	settings := q.settings
	settings.Seed = (settings.Seed + uint64(t.choice)) % (infer.MaxSeed + 1)
	viewer := runs.NewViewer("")
	run := s.Runs.Begin(who, viewer)
	defer s.Runs.End(run)
	for _, c := range []session.Command{
		session.SetLook{},
		session.SetAll(settings),
		session.Start{Prompt: t.prompt.Text, Marks: t.prompt.Marks, IDs: t.prompt.IDs},
		session.Finish{},
	} {
		if _, err := run.Do(ctx, c, nil, 0); err != nil {
			return counts{}, s.ended(err)
		}
	}
	w := &writer{model: s.Model, logprobs: q.logprobs, named: q.named, echo: q.echo}
	for sent := 0; ; {
		st := run.Latest()
		for ; sent < len(st.Steps) && st.Steps[sent].Ran >= infer.KindAppend; sent++ {
			t.watch.wrote(s.Model, st.Steps[sent])
			if err := emit(w.delta(st.Steps[sent])); err != nil {
				return counts{}, err
			}
		}
		if !st.Playing {
			switch {
			case st.Stuck != nil:
				return counts{}, st.Stuck
			case st.Stopped == infer.StopNone:
				return counts{}, errPaused
			}
			if q.seen != nil {
				q.seen(st)
			}
			t.watch.wroteAll(st)
			return counts{len(st.PromptTokens), sent}, nil
		}
		select {
		case <-viewer.Wake():
		case <-run.Done():
			return counts{}, s.ended(runs.ErrGone)
		case <-ctx.Done():
			return counts{}, ctx.Err()
		}
	}
}

// errPaused is the error for a run that paused because the server's memory for runs was used up.
var errPaused = func() *problem {
	p := ofStatus(http.StatusServiceUnavailable, "The server's memory for runs is used up. Try again in a moment.")
	p.wait = fullWait
	return p
}()

// ended returns the problem for a run that no longer exists. It returns other errors unchanged.
func (s *Server) ended(err error) error {
	switch {
	case !errors.Is(err, runs.ErrGone):
		return err
	case s.Context.Err() != nil:
		return ofStatus(http.StatusServiceUnavailable, "The server is shutting down.")
	}
	return ofStatus(http.StatusInternalServerError, "Something went wrong during generation. It has been logged.")
}

// echo scores a prompt that is part of the answer and returns it as a delta. A start token in the
// prompt is listed like its other tokens, so that the listed tokens match the ones in the request.
func (s *Server) echo(ctx context.Context, q *request, prompt prompt) (delta, int, error) {
	m := s.Slot().Model()
	p := delta{text: prompt.echo}
	if q.read {
		p.end = finish(infer.StopMaxTokens)
	}
	if q.logprobs < 0 && !q.read {
		return p, 0, nil
	}
	ids, err := m.EncodeChat(prompt.Text)
	if err != nil {
		return p, 0, err
	}
	list, err := m.ScorePrompt(ctx, prompt.Text, max(q.logprobs, 0), q.named...)
	if err != nil {
		return p, 0, err
	}
	if prompt.start {
		list = append([]infer.ReadToken{{Token: m.Token(ids[0]), First: true}}, list...)
	}
	at := 0
	for _, t := range list {
		p.tokens = append(p.tokens, token{ReadToken: t, offset: at, size: len(spelled(t.Token))})
		at += len(spelled(t.Token))
	}
	return p, len(ids), nil
}
