package remote

import (
	"context"
	"errors"
	"reflect"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/session"
)

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
		return nil, errors.New("too many manually chosen tokens to fit in a link")
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
