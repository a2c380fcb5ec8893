package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/wire"
)

// loopPart is one connection to a run: a [wire.Part] that passes
// commands to the run and sends what has changed since its last message.
type loopPart struct {
	base   context.Context // the server's
	runs   *runs
	model  *infer.Model
	limits Limits
	log    *slog.Logger
	run    *run
	viewer *viewer
	enc    encoder
	out    wire.Conn
	lost   bool // the run that the page had is not here any more

	// Used by sendStates alone.
	seq      uint64 // version of the state last sent, 0 before the first
	answered int    // how many commands had been carried out then
}

// openLoop attaches a connection to the run asked for by ?run=, or to an empty one
// if that is gone or none was asked for. A page whose run had been started (had=1)
// gets a refusal if the run is gone.
func (s *Server) openLoop(_ context.Context, v wire.Visit) (wire.Part, error) {
	p := &loopPart{
		base: s.ctx, runs: s.runs, model: s.cfg.Model, limits: s.cfg.Limits, log: s.cfg.Logger,
		viewer: newViewer(pageName(v.Query.Get("page"))), enc: encoders[v.Protocol](),
	}
	asked := v.Query.Get("run")
	run, found, err := s.runs.join(v.Learner, asked, p.viewer)
	if err != nil {
		return nil, err
	}
	p.run = run
	p.lost = asked != "" && !found && v.Query.Get("had") == "1"
	return p, nil
}

// Serve implements [wire.Part]. Commands are carried out in turn, including those
// that had arrived when the connection ended. Meanwhile the newest state is sent
// whenever there is one and the connection is free.
func (p *loopPart) Serve(ctx context.Context, in <-chan wire.Command, out wire.Conn) error {
	defer p.runs.leave(p.run, p.viewer)
	p.out = out
	if p.lost {
		p.refuse(0, &terms.Refusal{Code: terms.CodeExpired, Message: notHere})
	}
	if _, err := p.run.current(ctx); err != nil && ctx.Err() == nil {
		p.refuse(0, err)
	}
	_, p.answered = p.viewer.progress()
	ctx, stop := context.WithCancel(ctx)
	var failed error
	var sending sync.WaitGroup
	sending.Go(func() {
		defer stop()
		failed = guarded(func() error { return p.sendStates(ctx) })
	})
	err := p.handleCommands(ctx, in)
	stop()
	sending.Wait()
	return errors.Join(err, failed)
}

// handleCommands handles commands until ctx ends, then those still waiting.
func (p *loopPart) handleCommands(ctx context.Context, in <-chan wire.Command) error {
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
		if err := p.handle(c); err != nil {
			return err
		}
	}
}

// handle carries out one command. The state that follows is the answer to a
// command of the run; what is sent here answers the others, or says why not.
func (p *loopPart) handle(c wire.Command) error {
	o, bad := readOrder(c)
	switch {
	case bad != nil:
		p.refuse(c.N, bad)
	case o.name == "ping":
		p.reply(wire.Message{Ack: o.n})
	case o.name == "pieces":
		return p.pieces(o)
	case o.query != nil:
		return p.ask(o)
	case o.name == "open", o.name == "rebuild":
		link, err := session.ParseLink(p.model, o.link)
		if err != nil {
			p.refuse(o.n, err)
			return nil
		}
		o.command = session.Open{Link: link}
		if o.name == "rebuild" {
			o.command = session.Rebuild{Link: link}
		}
		return p.carryOut(o)
	default:
		return p.carryOut(o)
	}
	return nil
}

func (p *loopPart) carryOut(o order) error {
	_, err := p.run.do(p.base, o.command, p.viewer, o.n)
	switch {
	case errors.Is(err, errGone):
		return err
	case err != nil:
		p.refuse(o.n, err)
	}
	return nil
}

// pieces answers with the tokens of a text that is still being typed.
func (p *loopPart) pieces(o order) error {
	if o.pieces != "" {
		if err := infer.CheckPrompt(o.pieces, p.limits.PromptBytes); err != nil {
			p.refuse(o.n, err)
			return nil
		}
	}
	m := wire.Message{Ack: o.n}
	if err := p.enc.pieces(&m, p.model, o.pieces); err != nil {
		return err
	}
	p.reply(m)
	return nil
}

// ask answers a query with the run's newest state.
func (p *loopPart) ask(o order) error {
	st, err := p.run.current(p.base)
	if err != nil {
		p.refuse(o.n, err)
		return nil
	}
	if bad := o.query.check(o.name, st); bad != nil {
		p.refuse(o.n, bad)
		return nil
	}
	m := wire.Message{Ack: o.n}
	if err := p.enc.answer(&m, o.name, o.query, st); err != nil {
		return fmt.Errorf("answering %s: %w", o.name, err)
	}
	p.reply(m)
	return nil
}

// refuse says why command n was not carried out.
func (p *loopPart) refuse(n uint64, err error) {
	why := terms.RefusalOf(err)
	if why.Code == terms.CodeModel {
		p.log.Error("a command failed", "err", err)
	}
	p.reply(wire.Message{Ack: n, Error: why})
}

// reply sends an answer that carries no state. It is sent on its own: the page
// takes whatever arrives with a state to belong to it.
func (p *loopPart) reply(m wire.Message) {
	m.Alone = true
	_ = p.out.Send(m) // an error is that of a connection that has ended
}

// sendStates sends the newest state whenever there is one.
func (p *loopPart) sendStates(ctx context.Context) error {
	for {
		select {
		case <-p.viewer.wake:
		case <-p.run.done:
			return errGone
		case <-ctx.Done():
			return nil
		}
		if p.out.Ready() != nil {
			return nil
		}
		if err := p.push(); err != nil {
			return err
		}
	}
}

// push sends what has changed since the last state sent, and the
// acknowledgement of the commands carried out.
func (p *loopPart) push() error {
	// In this order: an acknowledgement is noted after its state, and refusals of
	// earlier commands are queued already.
	ack, answered := p.viewer.progress()
	next := p.run.latest.Load()
	news := next != nil && next.Version != p.seq
	if !news && answered == p.answered {
		return nil
	}
	m := wire.Message{Seq: p.seq, Ack: ack, Alone: true}
	p.answered = answered
	if news {
		if p.seq == 0 {
			m.Run, m.Again = p.run.id, p.viewer.again
		}
		if err := p.enc.encode(&m, next); err != nil {
			return fmt.Errorf("encoding a state: %w", err)
		}
		m.Seq, p.seq = next.Version, next.Version
	}
	return p.out.Send(m)
}

// guarded makes an error of a panic in f: it ends the connection and no other.
func guarded(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	return f()
}
