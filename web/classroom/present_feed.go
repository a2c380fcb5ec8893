package classroom

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"time"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/stage"
	"github.com/tokenbytoken/viz/web/wire"
)

// openPresent opens the instructor's connection. The query has the room's code and a ticket.
func (p *Pages) openPresent(ctx context.Context, v wire.Visit) (wire.Part, error) {
	code := class.NormalCode(v.Query.Get("room"))
	l, err := variantOf(v.Query)
	if err != nil {
		return nil, err
	}
	secret, ok := p.tickets.take(v.Query.Get("ticket"), code, v.Learner)
	if !ok {
		e := terms.Refuse(class.CodeSecret, "classroom.present.ticket")
		e.Field = "ticket"
		return nil, e
	}
	room, err := p.Hub.Instruct(ctx, code, secret, v.Caller)
	if err != nil {
		if e, ok := terms.AsRefusal(err); ok {
			return nil, e
		}
		return nil, err
	}
	return &presentFeed{p: p, room: room, who: v.Learner, secret: secret, view: l.view}, nil
}

// presentFeed is the instructor's connection.
type presentFeed struct {
	p      *Pages
	room   class.Room
	who    string
	secret class.Secret
	view   shell.View

	tried   bool             // the members' questions were requested
	askedAt askedAt          // in this state
	again   <-chan time.Time // requests them again after a failure; nil without one
}

// askedAt identifies a state of the members' questions.
type askedAt struct {
	epoch, raised uint64
	quiet         bool
}

// questions returns the panels of the members' questions, or nil if the page has them: there can be
// many. If the room's server does not list them, the page keeps the last list.
func (f *presentFeed) questions(ctx context.Context, v *class.View) ([]wire.Panel, error) {
	now := askedAt{v.Epoch, v.Raised, v.Quiet}
	if f.tried && f.askedAt == now {
		return nil, nil
	}
	f.tried, f.askedAt, f.again = true, now, nil
	var list []class.Raised
	if v.Raised > 0 { // otherwise there are none, or the server is of a version without questions
		var err error
		if list, err = raisedIn(ctx, f.room, f.secret); err != nil {
			f.again = time.After(raisedWait)
			return nil, ctx.Err()
		}
	}
	l := newQuestionList(v.Quiet, list)
	return rendered(ctx, []panel{{"pr-asked", raisedButton(l)}, {"pr-raised", raisedHTML(v.Code, l)}})
}

// Serve implements [wire.Part].
func (f *presentFeed) Serve(ctx context.Context, in <-chan wire.Command, out wire.Conn) error {
	notes, stop := f.p.Hub.Broker().Subscribe(f.room.Code())
	defer stop()
	closed, err := f.room.OpenPresenter(ctx, f.who, f.secret)
	if err != nil {
		return out.Send(f.p.answered(0, err))
	}
	defer closed()
	for {
		v := f.room.View()
		panels, err := f.panels(ctx, v)
		if err != nil {
			return err
		}
		data := sharedOf(stage.In(ctx), v, variant{onWall, f.view}.inside())
		if err := out.Send(wire.Message{Panels: panels, Data: data}); err != nil {
			return err
		}
		if v.Gone {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-notes:
		case <-f.again:
			f.tried = false
		case <-f.room.Done():
			if !f.room.View().Gone {
				return nil
			}
		case c, ok := <-in:
			if !ok {
				return nil
			}
			if err := out.Send(f.handle(ctx, c)); err != nil {
				return err
			}
		}
	}
}

// panels returns the panels of the slide and the panels that only the instructor sees.
func (f *presentFeed) panels(ctx context.Context, v *class.View) ([]wire.Panel, error) {
	panels, err := f.p.panels(ctx, v, variant{onWall, f.view})
	if err != nil {
		return nil, err
	}
	drives, err := f.room.CanPresent(ctx, f.who)
	if err != nil && !errors.Is(err, class.ErrGone) { // the view of a deleted room shows that it is gone
		return nil, err
	}
	w := stage.In(ctx)
	own, err := rendered(ctx, []panel{
		{"pr-ctl", controls(v.Code, controlFor(w, v, drives))},
		{"pr-note", notes(newNote(w, v))},
		{"pr-script", script(v.Code, newScript(v))},
		{"pr-flags", flags(v)},
		{"pr-follow", followFlag(v)},
	})
	if err != nil {
		return nil, err
	}
	asked, err := f.questions(ctx, v)
	return slices.Concat(panels, own, asked), err
}

// handle executes one command and returns the reply.
func (f *presentFeed) handle(ctx context.Context, c wire.Command) wire.Message {
	switch c.Name {
	case "members":
		if _, err := c.Read(nil); err != nil {
			return f.p.answered(c.N, err)
		}
		return f.members(ctx, c.N)
	case "head", "inside":
		return f.p.insideOf(ctx, f.room.View(), c)
	}
	names, err := fieldsOf(c.Name)
	if err != nil {
		return f.p.answered(c.N, err)
	}
	sent, err := c.Texts(names)
	if err != nil {
		return f.p.answered(c.N, err)
	}
	values := url.Values{}
	for name, value := range sent {
		values.Set(name, value)
	}
	_, err = f.room.Present(ctx, f.who, f.secret, formOf(c.Name, values))
	return f.p.answered(c.N, err)
}

// members returns a reply with the list of members.
func (f *presentFeed) members(ctx context.Context, n uint64) wire.Message {
	list, err := f.room.Attendees(ctx, f.secret)
	if err != nil {
		return f.p.answered(n, err)
	}
	panels, err := rendered(ctx, []panel{{"pr-members", members(f.room.View(), list)}})
	if err != nil {
		return f.p.answered(n, err)
	}
	return wire.Message{Ack: n, Done: true, Panels: panels}
}
