package remote

import (
	"context"
	"encoding/json"
	"maps"
	"time"

	"github.com/tokenbytoken/viz/infer/fault"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/room"
)

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
	f.mu.Unlock() // before Async, which locks the hub
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
		_ = fault.Do(f.shared.Config().Log, "showing another server's room", func() error {
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
				f.shared.Config().Log.Error("failed to recreate a room's stage on this server", "error", err)
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
