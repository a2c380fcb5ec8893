package loop

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/chat"
	"github.com/tokenbytoken/viz/infer/fault"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/loop/runs"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/stage"
	"github.com/tokenbytoken/viz/web/wire"
)

// livePart is one connection to a run. It is a [wire.Part] that passes commands to the run and
// sends what has changed since its last message.
type livePart struct {
	*Server
	caller admission.Caller
	run    *runs.Run
	viewer *runs.Viewer
	enc    encoder
	out    wire.Conn
	lost   bool // the run that the page had is gone

	// The fields below are used only by sendStates.
	seq      uint64 // version of the state last sent, 0 before the first
	started  bool   // whether that state has a text
	answered int    // number of commands carried out up to that state
}

// open attaches a connection to the run requested by ?run=. If that run is gone or none was
// requested, it attaches it to an empty run. A page whose run had already started (had=1) is
// refused if the run is gone.
func (s *Server) open(ctx context.Context, v wire.Visit) (wire.Part, error) {
	enc := encoders[v.Protocol](stage.In(ctx), view(shell.ViewNamed(v.Query.Get("view"), shell.Numbers)))
	p := &livePart{Server: s, caller: v.Caller, viewer: runs.NewViewer(v.Query.Get("page")), enc: enc}
	id := v.Query.Get("run")
	run, found := s.Runs.Join(v.Caller, id, p.viewer)
	p.run = run
	p.lost = id != "" && !found && v.Query.Get("had") == "1"
	return p, nil
}

// Serve implements [wire.Part]. It carries out commands in order, including commands that arrived
// before the connection ended. Meanwhile, it sends the newest state whenever the state has changed
// and the connection is free.
func (p *livePart) Serve(ctx context.Context, in <-chan wire.Command, out wire.Conn) error {
	defer p.Runs.Leave(p.run, p.viewer)
	p.out = out
	if p.lost {
		p.fail(0, terms.Refuse(terms.CodeExpired, "loop.problem.gone.say"))
	}
	if _, err := p.run.Current(ctx); err != nil && ctx.Err() == nil {
		p.fail(0, err)
	}
	_, p.answered = p.viewer.Progress()
	ctx, stop := context.WithCancel(ctx)
	var failed error
	var sending sync.WaitGroup
	sending.Go(func() {
		defer stop()
		failed = fault.Do(p.Log, "a page of the Loop", func() error { return p.sendStates(ctx) })
	})
	err := p.handleCommands(ctx, in)
	stop()
	sending.Wait()
	return errors.Join(err, failed)
}

// handleCommands handles commands until ctx ends, and then the commands that are still waiting.
func (p *livePart) handleCommands(ctx context.Context, in <-chan wire.Command) error {
	for {
		var c wire.Command
		var ok bool
		select {
		case c, ok = <-in:
		case <-ctx.Done():
			select {
			case c, ok = <-in:
			default:
			}
		}
		if !ok {
			return nil
		}
		if err := p.handle(ctx, c); err != nil {
			return err
		}
	}
}

// handle carries out one command. If the command is for the run, the resulting state is its answer.
// For all other commands and for refusals, handle itself sends the answer.
func (p *livePart) handle(ctx context.Context, c wire.Command) error {
	o, bad := readOrder(c)
	switch {
	case bad != nil:
		p.fail(c.N, bad)
	case o.name == "ping":
		p.reply(wire.Message{Ack: o.n})
	case o.name == "pieces":
		return p.answer(ctx, o.n, len(c.Fields), func() (wire.Message, error) { return p.pieces(o) })
	case o.query != nil:
		return p.ask(ctx, o)
	case o.name == "open", o.name == "rebuild":
		var link session.Link
		if err := p.inTurn(p.Context, len(o.link), func() (err error) {
			link, err = session.ParseLink(p.Model, o.link)
			return err
		}); err != nil {
			p.fail(o.n, err)
			return nil
		}
		o.command = session.Open{Link: link}
		if o.name == "rebuild" {
			o.command = session.Rebuild{Link: link}
		}
		return p.carryOut(o)
	default:
		return p.start(o)
	}
	return nil
}

// Texts shorter than longText are processed immediately. A longer text or a query is estimated to
// take answerTime, plus readTime for each byte.
const (
	longText   = 512
	readTime   = time.Microsecond
	answerTime = 2 * time.Millisecond
)

// inTurn calls f. For a long text, it first waits for the caller's turn, so that a client with many
// connections uses at most one processor and does not delay others. f must not send anything,
// because the client might not be reading.
func (p *livePart) inTurn(ctx context.Context, size int, f func() error) error {
	if size < longText {
		return f()
	}
	_, leave, err := p.texts.Enter(ctx, p.caller, answerTime+time.Duration(size)*readTime, nil)
	if errors.Is(err, admission.ErrQueueFull) {
		return terms.Refuse(terms.CodeBusy, "shell.busy.again")
	} else if err != nil {
		return err
	}
	defer leave()
	return f()
}

// answer answers command n when it is the caller's turn (see [livePart.inTurn]).
func (p *livePart) answer(ctx context.Context, n uint64, size int, f func() (wire.Message, error)) error {
	var m wire.Message
	err := p.inTurn(ctx, size, func() (err error) {
		m, err = f()
		return err
	})
	switch {
	case err == nil:
		p.reply(m)
	case ctx.Err() == nil:
		p.fail(n, err)
	}
	return nil
}

// start is carryOut for a command that may begin a run with a long text. If a text is too long,
// start refuses it only when it is the caller's turn, because computing how much to shorten the
// text takes longer than beginning a run.
func (p *livePart) start(o order) error {
	begin, ok := o.command.(session.Start)
	if !ok {
		return p.carryOut(o)
	}
	over := false
	if err := p.inTurn(p.Context, len(begin.Prompt), func() (err error) {
		if _, over = session.TooLong(p.Model, begin.Prompt, p.Runs.Limits().PromptBytes); over {
			err = p.do(o)
		}
		return err
	}); err != nil || over {
		return p.failed(o.n, err)
	}
	return p.carryOut(o)
}

func (p *livePart) carryOut(o order) error { return p.failed(o.n, p.do(o)) }

// do passes a command to the run.
func (p *livePart) do(o order) error {
	_, err := p.run.Do(p.Context, o.command, p.viewer, o.n)
	if start, ok := o.command.(session.Start); ok && err != nil {
		err = p.overlong(start.Prompt, err)
	}
	return err
}

// failed reports to the client that command n was not carried out because of err. It does nothing
// if err is nil, and returns an error only if the run is gone.
func (p *livePart) failed(n uint64, err error) error {
	if errors.Is(err, runs.ErrGone) {
		return err
	} else if err != nil {
		p.fail(n, err)
	}
	return nil
}

// overlong returns err, the reason for refusing a prompt. If the prompt is too long, overlong
// replaces the message, which is for programs and counts bytes, with a message for people.
func (p *livePart) overlong(prompt string, err error) error {
	why, refused := terms.AsRefusal(err)
	keep, over := session.TooLong(p.Model, prompt, p.Runs.Limits().PromptBytes)
	if !refused || why.Field != "prompt" || !over {
		return err
	}
	said := terms.Refuse(why.Code, "loop.prompt.overlong", "n", utf8.RuneCountInString(prompt), "keep", keep)
	said.Field, said.Want = why.Field, why.Want
	return said
}

// pieces returns a message with the tokens of a text or chat that is still being typed.
func (p *livePart) pieces(o order) (m wire.Message, err error) {
	text := chat.Text{Text: o.pieces}
	most := p.Runs.Limits().PromptBytes
	if o.chat != nil {
		text, err = o.chat.Write(p.Context, p.Model, session.Limits{PromptBytes: most})
	} else if o.pieces != "" {
		err = infer.CheckPrompt(o.pieces, most)
		if err == nil && len(o.pieces) > infer.MaxSampleBytes { // shorter texts are shown even if they do not fit
			_, err = p.Model.Fit(text)
		}
	}
	if err != nil {
		return m, p.overlong(o.pieces, err)
	}
	m.Ack = o.n
	err = p.enc.pieces(&m, p.Model, text)
	return m, err
}

// ask answers a query about the run's newest state.
func (p *livePart) ask(ctx context.Context, o order) error {
	st, err := p.run.Current(p.Context)
	if err != nil {
		p.fail(o.n, err)
		return nil
	}
	if bad := o.query.check(o.name, st); bad != nil {
		p.fail(o.n, bad)
		return nil
	}
	return p.answer(ctx, o.n, longText, func() (wire.Message, error) {
		m := wire.Message{Ack: o.n}
		if err := p.enc.answer(&m, o.name, o.query, st); err != nil {
			return m, fmt.Errorf("answering %s: %w", o.name, err)
		}
		return m, nil
	})
}

// fail sends err to the client as the reason why command n was not carried out.
func (p *livePart) fail(n uint64, err error) {
	why := terms.RefusalOf(err)
	if why.Code == terms.CodeModel {
		p.Log.Error("command failed", "err", err)
	}
	p.reply(wire.Message{Ack: n, Error: why})
}

// reply sends an answer without a state. The answer is not merged with a state, because the page
// assumes that everything in a message belongs to the message's state.
func (p *livePart) reply(m wire.Message) {
	m.Alone = true
	_ = p.out.Send(m) // an error means that the connection has ended
}

// sendStates sends the newest state whenever the state has changed.
func (p *livePart) sendStates(ctx context.Context) error {
	for {
		select {
		case <-p.viewer.Wake():
		case <-p.run.Done():
			return runs.ErrGone
		case <-ctx.Done():
			return nil
		}
		if p.out.Ready() != nil {
			return nil
		}
		if err := p.push(ctx); err != nil {
			return err
		}
	}
}

// push sends what has changed since the last state sent, and acknowledges the commands that have
// been carried out.
func (p *livePart) push(ctx context.Context) error {
	// The order matters: an acknowledgement is recorded after its state, and refusals of
	// earlier commands are already queued.
	ack, answered := p.viewer.Progress()
	next := p.run.Latest()
	if next == nil && p.run.Version() != p.seq { // evicted before this viewer had been sent the state
		var err error
		if next, err = p.run.Current(ctx); err != nil {
			return ignoreEnd(ctx, err)
		}
	}
	news := next != nil && next.Version != p.seq
	if !news && answered == p.answered {
		return nil
	}
	p.answered = answered
	m := wire.Message{Seq: p.seq, Ack: ack, Alone: true}
	if !news {
		return p.out.Send(m)
	}
	return p.pushState(m, next)
}

// pushState adds a state to m and sends it. Panels that can be shown later follow in a second
// message, which is rendered only after the first one has been sent. There is only one message for
// the first state on a connection and for the first state with a text, because a page may merge
// these two states, and for the states of a playing run, because the next state follows at once.
func (p *livePart) pushState(m wire.Message, next *session.State) error {
	whole := !p.started || next.Playing
	if p.seq == 0 {
		m.Run, m.Again = p.run.ID(), p.viewer.Again()
	}
	m.Seq, p.seq, p.started = next.Version, next.Version, next.Started()
	rest, err := p.enc.encode(&m, next)
	if err == nil && rest != nil && whole {
		rest, err = nil, rest(&m)
	}
	if err != nil {
		return fmt.Errorf("encoding state: %w", err)
	}
	p.viewer.Saw(p.seq)
	m.More = rest != nil
	if err := p.out.Send(m); err != nil || rest == nil {
		return err
	}
	after := wire.Message{Seq: m.Seq, Ack: m.Ack, Rest: true, Alone: true}
	if err := rest(&after); err != nil {
		return fmt.Errorf("encoding state: %w", err)
	}
	return p.out.Send(after)
}

// ignoreEnd returns err, or nil if the context has ended.
func ignoreEnd(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}
