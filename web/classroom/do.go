package classroom

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/shell"
)

// fields holds the text fields of an instructor's command, from a form or a message.
type fields struct {
	url.Values
	err error
}

// refuse records an error in a field, unless there already is one.
func (f *fields) refuse(name, want string) {
	if f.err == nil {
		f.err = terms.RefuseField(name, terms.Quoted(f.Get(name)), want)
	}
}

// whole parses a field with a whole number from low to high.
func (f *fields) whole(name string, low, high int) int {
	n, err := strconv.Atoi(strings.TrimSpace(f.Get(name)))
	if err != nil || n < low || n > high {
		f.refuse(name, fmt.Sprintf("a whole number from %d to %d", low, high))
	}
	return n
}

// orWhole is like whole, but returns otherwise if the field is empty.
func (f *fields) orWhole(name string, low, high, otherwise int) int {
	if strings.TrimSpace(f.Get(name)) == "" {
		return otherwise
	}
	return f.whole(name, low, high)
}

// decimal parses a field with a number. It returns nil if the field is empty.
func (f *fields) decimal(name string) *float64 {
	text := strings.TrimSpace(f.Get(name))
	if text == "" {
		return nil
	}
	x, ok := terms.ReadNumber(text)
	if !ok {
		f.refuse(name, "a number")
	}
	return &x
}

// seconds parses a duration. It returns 0 if there is none.
func (f *fields) seconds() time.Duration {
	return time.Duration(f.orWhole("seconds", 0, maxSeconds, 0)) * time.Second
}

// where parses the position of the token that a poll asks about.
func (f *fields) where() class.Where {
	switch w := class.Where(f.Get("where")); w {
	case class.IfOpen, class.Here, class.NextOpen:
		return w
	}
	f.refuse("where", "here or open")
	return class.IfOpen
}

// maxSeconds is the longest allowed vote or countdown: the length of one lesson.
const maxSeconds = 7200

// runCommands maps command names in forms to the commands that move the room's run, in the
// syntax of [session.ParseCommand].
var runCommands = map[string]string{
	"forward": "step", "back": "back", "token": "token", "play": "play", "pause": "pause", "reset": "reset",
	"goon": "goon", "start": "start", "speed": "speed", "look": "look", "redraw": "redraw", "seek": "seek",
	"set": "set",
}

// drive parses a command for the room's run. It uses only the fields of that command, since
// a form can contain other fields.
func (f *fields) drive(name string) session.Command {
	takes := map[string]string{}
	for _, field := range session.Takes(name) {
		takes[field] = f.Get(field)
	}
	c, _, err := session.ParseCommand(name, session.TextFields(takes))
	if err != nil && f.err == nil {
		f.err = err
	}
	return c
}

// roomCommands maps the names of the commands that change the room to functions that parse
// their fields; v is the room's current view.
var roomCommands = map[string]func(f *fields, v *class.View) class.Command{
	"goto":      func(f *fields, _ *class.View) class.Command { return class.GoTo{Step: f.whole("step", 1, 1000)} },
	"next-step": func(_ *fields, v *class.View) class.Command { return class.GoTo{Step: stepOf(v) + 1} },
	"prev-step": func(_ *fields, v *class.View) class.Command { return class.GoTo{Step: stepOf(v) - 1} },
	"ask-walk":  func(*fields, *class.View) class.Command { return class.AskWalk{} },
	"ask-next": func(f *fields, _ *class.View) class.Command {
		return class.AskNext{Choices: f.orWhole("choices", 4, 8, 0), For: f.seconds(), Where: f.where()}
	},
	"new-poll": func(f *fields, _ *class.View) class.Command {
		return class.AskNext{Choices: f.orWhole("choices", 4, 8, 0), For: f.seconds(), Where: f.where()}
	},
	"ask-question": func(f *fields, _ *class.View) class.Command {
		return class.AskQuestion{ID: f.Get("id"), For: f.seconds()}
	},
	"ask-draw": func(f *fields, _ *class.View) class.Command {
		return class.AskDraw{For: f.seconds(), Where: f.where()}
	},
	"ask-number": askNumber,
	"close":      func(*fields, *class.View) class.Command { return class.Close{} },
	"extend": func(f *fields, _ *class.View) class.Command {
		return class.Extend{By: time.Duration(f.orWhole("seconds", 1, maxSeconds, 30)) * time.Second}
	},
	"spread":          func(*fields, *class.View) class.Command { return class.ShowSpread{} },
	"reveal":          func(*fields, *class.View) class.Command { return class.Reveal{} },
	"revote":          func(f *fields, _ *class.View) class.Command { return class.Revote{For: f.seconds()} },
	"dismiss":         func(*fields, *class.View) class.Command { return class.Dismiss{} },
	"append-majority": func(*fields, *class.View) class.Command { return class.AppendMajority{} },
	"append-of":       func(f *fields, _ *class.View) class.Command { return class.AppendOf{Member: f.member()} },
	"timer":           func(f *fields, _ *class.View) class.Command { return class.SetTimer{For: f.seconds()} },
	"lock":            func(*fields, *class.View) class.Command { return class.Lock{On: true} },
	"unlock":          func(*fields, *class.View) class.Command { return class.Lock{} },
	"hide-names":      func(*fields, *class.View) class.Command { return class.HideNames{On: true} },
	"show-names":      func(*fields, *class.View) class.Command { return class.HideNames{} },
	"alone-on":        func(*fields, *class.View) class.Command { return class.AllowAlone{On: true} },
	"alone-off":       func(*fields, *class.View) class.Command { return class.AllowAlone{} },
	"follow":          func(_ *fields, v *class.View) class.Command { return class.AllowAlone{On: !v.Alone} },
	"drop-name":       func(f *fields, _ *class.View) class.Command { return class.DropName{Member: f.member()} },
	"remove":          func(f *fields, _ *class.View) class.Command { return class.Remove{Member: f.member()} },
	"assign":          assignCommand,
	"take-seat":       func(*fields, *class.View) class.Command { return class.TakeOver{} },
	"end":             func(*fields, *class.View) class.Command { return class.End{} },
	"reopen":          func(*fields, *class.View) class.Command { return class.Reopen{} },
	"delete":          func(*fields, *class.View) class.Command { return class.Delete{} },
}

func (f *fields) member() int { return f.whole("member", 1, 1<<30) }

func stepOf(v *class.View) int {
	if v.Walk == nil {
		return 0
	}
	return v.Walk.Step
}

func askNumber(f *fields, _ *class.View) class.Command {
	ask := class.AskNumber{Prompt: f.Get("prompt"), Unit: f.Get("unit"), Answer: f.decimal("answer"), For: f.seconds()}
	if within := f.decimal("within"); within != nil {
		ask.Within = *within
	}
	return ask
}

// roomFields lists the fields of those roomCommands that have any.
var roomFields = map[string][]string{
	"goto":         {"step"},
	"ask-next":     {"choices", "seconds", "where"},
	"new-poll":     {"choices", "seconds", "where"},
	"ask-question": {"id", "seconds"},
	"ask-draw":     {"seconds", "where"},
	"ask-number":   {"prompt", "unit", "answer", "within", "seconds"},
	"extend":       {"seconds"},
	"revote":       {"seconds"},
	"append-of":    {"member"},
	"timer":        {"seconds"},
	"assign":       {"do", "names"},
	"drop-name":    {"member"},
	"remove":       {"member"},
	"delete":       {"sure"}, // a checkbox that the browser requires
}

// withholdField is a hidden field of the forms that can move the run. A form sends it with
// each of its buttons, so every command accepts the field, but only commands that take a
// step use it.
const withholdField = "withhold"

// fieldsOf returns the fields that a message with an instructor's command may have.
func fieldsOf(name string) ([]string, error) {
	names := roomFields[name]
	if run, ok := runCommands[name]; ok {
		names = session.Takes(run)
	} else if roomCommands[name] == nil {
		return nil, noCommand(name)
	}
	if !slices.Contains(names, withholdField) {
		names = append(slices.Clone(names), withholdField)
	}
	return names, nil
}

func noCommand(name string) error {
	return &terms.Refusal{
		Code: terms.CodeUnknown, Field: "cmd", Message: fmt.Sprintf("There is no command %q.", name),
	}
}

// command parses an instructor's command.
func command(name string, values url.Values, v *class.View) (class.Command, error) {
	f := &fields{Values: values}
	var c class.Command
	if make, ok := roomCommands[name]; ok {
		c = make(f, v)
	} else if run, ok := runCommands[name]; ok {
		c = class.Drive{Do: f.drive(run)}
	} else {
		return nil, noCommand(name)
	}
	return c, f.err
}

// do executes a command from a form.
func (p *Pages) do(w http.ResponseWriter, r *http.Request) {
	if !p.Form(w, r) {
		return
	}
	room, secret, who, ok := p.taught(w, r)
	if !ok {
		return
	}
	name := r.PostForm.Get("cmd")
	c, err := command(name, r.PostForm, room.View())
	if err == nil {
		_, err = room.Present(r.Context(), who, secret, c)
	}
	if err != nil {
		p.fail(w, r, err)
		return
	}
	if name == "delete" {
		gone := secretCookie(room.Code(), "")
		gone.MaxAge = -1
		shell.SetCookie(w, r, gone)
	}
	switch {
	case shell.Fragment(r):
		w.WriteHeader(http.StatusNoContent)
	case name == "assign":
		http.Redirect(w, r, roomPath(room.Code())+"/summary#work", http.StatusSeeOther)
	case name == "delete":
		http.Redirect(w, r, "/teach?deleted=1", http.StatusSeeOther)
	default:
		http.Redirect(w, r, "/class/"+room.Code()+"/present", http.StatusSeeOther)
	}
}
