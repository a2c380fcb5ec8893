package classtest

import (
	"context"
	"fmt"
	"reflect"
	"strconv"

	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/session"
)

// local is a room that runs on this server. It executes all commands, even those that pages cannot
// send.
type local interface {
	Fits(secret class.Secret) bool
	Execute(ctx context.Context, who string, cmd class.Command) (*class.View, error)
}

// Execute executes a command in a room. If the room runs on another server, it sends [Form].
func Execute(
	ctx context.Context, r class.Room, who string, secret class.Secret, c class.Command,
) (*class.View, error) {
	l, ok := r.(local)
	switch {
	case !ok:
		return r.Present(ctx, who, secret, Form(c))
	case !l.Fits(secret):
		return nil, class.ErrSecret
	}
	return l.Execute(ctx, who, c)
}

// Form returns the form that makes a command. It knows only the commands that tests send between
// servers.
func Form(c class.Command) class.Form {
	f := formOf(c)
	if made, err := f.Command(&class.View{}); err != nil || !reflect.DeepEqual(made, c) {
		panic(fmt.Sprintf("the form of %#v makes %#v (%v)", c, made, err))
	}
	return f
}

func formOf(c class.Command) class.Form {
	switch c := c.(type) {
	case class.AskNext:
		return form(
			"ask-next", "choices", number(c.Choices), "where", string(c.Where), "seconds", number(int(c.For.Seconds())),
		)
	case class.AskQuestion:
		return form("ask-question", "id", c.ID, "seconds", number(int(c.For.Seconds())))
	case class.Close:
		return form("close")
	case class.ShowSpread:
		return form("spread")
	case class.Reveal:
		return form("reveal")
	case class.Dismiss:
		return form("dismiss")
	case class.AppendMajority:
		return form("append-majority")
	case class.GoTo:
		return form("goto", "step", number(c.Step))
	case class.Delete:
		return form("delete")
	case class.Drive:
		switch do := c.Do.(type) {
		case session.Start:
			return form("start", "prompt", do.Prompt)
		case session.StepStage:
			return form("forward")
		case session.StepToken:
			return form("token")
		}
	}
	panic(fmt.Sprintf("there is no form for %#v", c))
}

func form(name string, fields ...string) class.Form {
	f := class.Form{Name: name, Fields: map[string]string{}}
	for i := 0; i < len(fields); i += 2 {
		f.Fields[fields[i]] = fields[i+1]
	}
	return f
}

// number formats a field; 0 means that there is none.
func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}
