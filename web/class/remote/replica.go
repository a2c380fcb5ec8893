package remote

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/fault"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/room"
	"github.com/tokenbytoken/viz/web/session"
)

// encode returns an encoded view. It encodes each view only once.
func encode(v *class.View) (json.RawMessage, error) {
	type encoded struct {
		text []byte
		err  error
	}
	e := v.Shared("class/wire", func() any {
		w := wireView{Epoch: v.Epoch, View: v, Problem: v.Notice.Encode()}
		if v.Walk != nil {
			w.Walk, w.Step, w.Left = v.Walk.Walk.Slug, v.Walk.Step, v.Walk.Left
		}
		if st := v.State; st != nil {
			w.Run = &wireRun{
				Link: v.Link(), Started: st.Started(), Text: st.Text, Settings: st.Settings, Ghosts: st.Ghosts,
				Playing: st.Playing, Speed: st.Speed, Ends: st.Finishing, Branches: st.Branches, WhatIf: st.WhatIf,
				Looking: st.Looking, Notice: st.Notice, Stuck: st.Stuck.Encode(),
			}
		}
		text, err := json.Marshal(w)
		return encoded{text: text, err: err}
	}).(encoded)
	return e.text, e.err
}

// Shown implements [room.Host]: it publishes a view of a room that this server owns.
func (f *relay) Shown(v *class.View) {
	f.mu.Lock()
	blank := f.blank(v, v.State != nil)
	f.mu.Unlock()
	if blank || !f.see(v) {
		return
	}
	text, err := encode(v)
	if err != nil || len(text) > MaxReply {
		f.shared.Config().Log.Error("a view of a class could not be sent to other servers", "error", err, "bytes",
			len(text))
		return
	}
	f.shared.c.Bus.Publish(f.Code(), text)
	if v.Gone {
		f.end()
	}
}

// blank reports whether a view would replace a visible stage with an empty one, because it comes
// from a new owner that has not opened the run yet. In that case, the old view is kept: the next
// report of open pages makes the owner open the run and publish a view with the stage. The caller
// holds f.mu.
func (f *relay) blank(v *class.View, hasRun bool) bool {
	return !hasRun && !v.Gone && f.seen && f.View().State != nil
}

// arrived handles a view that the owner has published.
func (f *relay) arrived(text []byte) {
	w := &wireView{}
	if len(text) > MaxReply || json.Unmarshal(text, w) != nil || w.View == nil || w.View.Code != f.Code() {
		return
	}
	w.View.Epoch = w.Epoch
	f.mu.Lock()
	defer f.mu.Unlock()
	newest := f.latest == nil || w.View.After(f.latest)
	if newest && !f.blank(w.View, w.Run != nil) && (!f.seen || w.View.After(f.View())) {
		f.incoming, f.latest = w, w.View
		signal(f.news)
	}
}

// follow subscribes to the room's views if the relay has not subscribed yet.
func (f *relay) follow() error {
	f.mu.Lock()
	f.used = time.Now()
	if f.follows {
		f.mu.Unlock()
		return nil
	}
	stop, err := f.shared.c.Bus.Subscribe(f.Code(), f.arrived)
	f.follows = err == nil
	f.mu.Unlock() // f.mu must not be held when the hub's lock is taken
	if err != nil {
		return class.ErrAway
	}
	ctx, cancel := context.WithCancel(f.ctx)
	end := func() { cancel(); stop() }
	if !f.shared.Async(func() { f.show(ctx) }, func() { defer end(); f.report(ctx) }) {
		end()
		return class.ErrAway
	}
	return nil
}

// report repeatedly sends the owner a list of the pages that are open on this server, and
// fetches the newest view if this server missed it. It returns when the room has not been
// requested for [Paces.Idle].
func (f *relay) report(ctx context.Context) {
	beat := time.NewTicker(f.shared.c.Paces.Beat)
	defer beat.Stop()
	for first := true; ; first = false {
		if !first {
			select {
			case <-f.changed:
			case <-beat.C:
			case <-f.ownerLost(): // another server must take over the room
			case <-ctx.Done():
				return
			}
		}
		if f.rests() {
			return
		}
		_ = fault.Do(f.shared.Config().Log, "following a room", func() error { f.reportOnce(ctx); return nil })
	}
}

// ownerLost returns a channel that is closed when the known owner's lease has ended.
func (f *relay) ownerLost() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.here != nil {
		return nil // relay.watch handles that
	}
	return f.lease.Lost
}

// rests reports whether the room is no longer needed on this server. If so, the server stops
// following it.
func (f *relay) rests() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	idle := len(f.pages)+len(f.presenters)+f.watching == 0 && time.Since(f.used) > f.shared.c.Paces.Idle
	if idle {
		f.follows = false
	}
	return idle
}

func (f *relay) reportOnce(ctx context.Context) {
	f.mu.Lock()
	a := room.Report{
		Server: f.shared.c.Server, N: f.shared.reports.Add(1), Pages: map[string]int{},
		Presenters: map[string]int{},
	}
	maps.Copy(a.Pages, f.pages)
	maps.Copy(a.Presenters, f.presenters)
	f.mu.Unlock()
	var at placed
	for _, part := range a.Split() {
		var err error
		if at, err = call(ctx, f, opPages, part); err != nil {
			return // retried at the next beat
		}
	}
	f.mu.Lock()
	here, v := f.here != nil, &class.View{Epoch: at.Epoch, Seq: at.Seq}
	missed := !f.seen || v.After(f.View())
	if f.latest != nil && !v.After(f.latest) {
		missed = false // the newest view has arrived and is about to be shown
	}
	f.mu.Unlock()
	if missed && !here {
		if text, err := call(ctx, f, opView, nothing{}); err == nil {
			f.arrived(text)
		}
	}
}

// show shows arriving views until ctx ends. If several are waiting, it shows only the newest.
func (f *relay) show(ctx context.Context) {
	x := &replica{driver: f.shared.Config().Driver, room: f.Code()}
	defer x.close()
	for {
		select {
		case <-f.news:
		case <-ctx.Done():
			return
		}
		f.mu.Lock()
		w, here := f.incoming, f.here != nil
		f.incoming = nil
		f.mu.Unlock()
		if here {
			x.close() // the room has its own run now
		}
		if w == nil || here {
			continue
		}
		_ = fault.Do(f.shared.Config().Log, "showing a room of another server", func() error {
			f.showOne(ctx, x, w)
			return nil
		})
	}
}

// showOne recreates the view that was published as w and shows it.
func (f *relay) showOne(ctx context.Context, x *replica, w *wireView) {
	v := w.View
	v.Notice = w.Problem.Decode()
	if walk := f.shared.Config().Course.Translated(v.Language).Walk(w.Walk); walk != nil {
		v.Walk = &class.WalkView{Walk: walk, Step: w.Step, Left: w.Left}
	}
	if w.Run != nil {
		st, err := x.state(ctx, w.Run)
		if err != nil {
			if ctx.Err() == nil {
				f.shared.Config().Log.Error("a room's stage could not be recreated on this server", "error", err)
			}
			x.close()
		}
		v.State = st // nil if that failed; the class still sees everything else
		v.SetLink(func() string { return w.Run.Link })
	}
	if f.see(v) {
		f.shared.Config().Broker.Publish(f.Code(), class.Note{Seq: v.Seq})
	}
	if v.Gone {
		f.end()
	}
}

// replica is a local run that follows a run on another server.
type replica struct {
	driver class.Driver
	room   string
	run    class.Run
	link   string // link of the run; "" if it has no text
	opens  int    // number of links opened so far
}

func (x *replica) close() {
	if x.run != nil {
		x.run.Close()
	}
	x.run, x.link = nil, ""
}

// state moves the run to the stage in a link and returns its state with the owner's
// settings.
func (x *replica) state(ctx context.Context, w *wireRun) (*session.State, error) {
	if w.Started && w.Link == "" {
		return nil, errors.New("too many tokens were changed by hand to fit in a link")
	}
	st, err := x.bring(ctx, w)
	if err != nil {
		return nil, err
	}
	if st.Looking != w.Looking {
		if st, err = x.run.Do(ctx, session.SetLook{On: w.Looking}); err != nil {
			return nil, err
		}
	}
	is := *st
	is.Text, is.Settings, is.Ghosts, is.Playing, is.Speed = w.Text, w.Settings, w.Ghosts, w.Playing, w.Speed
	is.Finishing, is.Branches, is.WhatIf, is.Notice = w.Ends, w.Branches, w.WhatIf, w.Notice
	is.Stuck = w.Stuck.Decode()
	return &is, nil
}

// bring moves the run to the stage in a link, by stepping if the stage is near and by opening the
// link otherwise.
func (x *replica) bring(ctx context.Context, w *wireRun) (*session.State, error) {
	if x.run != nil && x.link == w.Link {
		if st := x.run.State(); st != nil && session.LinkOf(st) == w.Link {
			return st, nil
		}
	}
	if x.run != nil && x.link != "" && w.Link != "" {
		if st := x.walk(ctx, w.Link); st != nil {
			x.link = w.Link
			return st, nil
		}
	}
	x.close()
	run, err := x.driver.Open(ctx, x.room, w.Link)
	if err != nil {
		return nil, err
	}
	x.run, x.link = run, w.Link
	x.opens++
	st, err := run.Do(ctx, session.Pause{})
	if err != nil || session.LinkOf(st) == w.Link {
		return st, err
	}
	return nil, errors.New("the state does not match the link")
}

// mostReplayed is the maximum number of steps to try before opening the link instead.
const mostReplayed = 2 * int(infer.KindCache)

// walk steps the run to the stage in a link if the link is to the same text. It returns nil if that
// is impossible.
func (x *replica) walk(ctx context.Context, link string) *session.State {
	st := x.run.State()
	if st == nil {
		return nil
	}
	from, err := session.ParseLink(st.Model, x.link)
	if err != nil {
		return nil
	}
	to, err := session.ParseLink(st.Model, link)
	if err != nil || !follows(from.Log, to.Log) {
		return nil
	}
	do := func(c session.Command) {
		if err == nil {
			st, err = x.run.Do(ctx, c)
		}
	}
	for n := 0; n < mostReplayed && err == nil; n++ {
		if session.LinkOf(st) == link {
			return st
		}
		switch last := st.Steps[len(st.Steps)-1]; {
		case len(st.Steps) == to.Log.Steps && last.Ran == to.Log.Ran && !to.Undrawn:
			do(session.Seek(to.Cursor))
		case !st.AtFrontier():
			do(session.Seek(st.Frontier()))
		case len(st.Steps)+1 < to.Log.Steps || len(st.Steps) < to.Log.Steps && last.Ran < infer.KindCache:
			do(session.StepToken{})
		default:
			do(session.StepStage{Withhold: to.Undrawn})
		}
	}
	return nil
}

// follows reports whether a run whose log is from will reach the log to if it continues.
func follows(from, to infer.Log) bool {
	if from.Steps > to.Steps || from.Steps == to.Steps && from.Ran > to.Ran {
		return false
	}
	from.Steps, from.Ran = to.Steps, to.Ran
	return reflect.DeepEqual(from, to)
}
