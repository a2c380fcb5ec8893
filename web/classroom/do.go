package classroom

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/live"
	"github.com/tokenbytoken/viz/web/pages"
	"github.com/tokenbytoken/viz/web/session"
)

// fields are what a teacher's command carries, all as text: a form's or a
// message's.
type fields struct {
	url.Values
	err error
}

// spoken are the fields as people know them.
var spoken = map[string]string{
	"temperature": "Temperature", "top_k": "Top-k", "top_p": "Top-p", "min_p": "Min-p", "seed": "The seed",
	"seconds": "The number of seconds", "n": "The number of candidates", "step": "The step", "stage": "The stage",
	"member": "The member’s number", "answer": "The answer", "within": "How far off is still right",
}

// refuse keeps the first thing that is wrong with the fields.
func (f *fields) refuse(name, want string) {
	if f.err == nil {
		f.err = &live.Error{
			Code: live.Range, Field: name, Want: want,
			Message: fmt.Sprintf("%s is %q; it must be %s.", cmp.Or(spoken[name], name), f.Get(name), want),
		}
	}
}

// whole reads a whole number of at least low and at most high.
func (f *fields) whole(name string, low, high int) int {
	n, err := strconv.Atoi(strings.TrimSpace(f.Get(name)))
	if err != nil || n < low || n > high {
		f.refuse(name, fmt.Sprintf("a whole number from %d to %d", low, high))
	}
	return n
}

// orWhole is whole where the field is given.
func (f *fields) orWhole(name string, low, high, otherwise int) int {
	if strings.TrimSpace(f.Get(name)) == "" {
		return otherwise
	}
	return f.whole(name, low, high)
}

// decimal reads a number where one is given.
func (f *fields) decimal(name string) *float64 {
	text := strings.TrimSpace(f.Get(name))
	if text == "" {
		return nil
	}
	x, err := class.ReadNumber(text)
	if err != nil {
		f.refuse(name, "a number")
	}
	return &x
}

// seconds reads a duration, 0 where none is given.
func (f *fields) seconds() time.Duration {
	return time.Duration(f.orWhole("seconds", 0, maxSeconds, 0)) * time.Second
}

// maxSeconds is the longest that a vote or a countdown may last: a lesson.
const maxSeconds = 7200

// runCommands are those that move the room's run.
var runCommands = map[string]func(f *fields) session.Command{
	"forward": func(*fields) session.Command { return session.StepStage{} },
	"back":    func(*fields) session.Command { return session.Back{} },
	"token":   func(*fields) session.Command { return session.StepToken{} },
	"play":    func(*fields) session.Command { return session.Play{} },
	"pause":   func(*fields) session.Command { return session.Pause{} },
	"reset":   func(*fields) session.Command { return session.Reset{} },
	"goon":    func(*fields) session.Command { return session.GoOn{} },
	"start": func(f *fields) session.Command {
		return session.Start{Prompt: strings.ReplaceAll(f.Get("prompt"), "\r\n", "\n")}
	},
	"speed":  func(f *fields) session.Command { return session.SetSpeed{Speed: session.Speed(f.Get("speed"))} },
	"look":   func(f *fields) session.Command { return session.SetLook{On: f.Get("on") == "true"} },
	"redraw": func(f *fields) session.Command { return session.Redraw{Seed: f.seed()} },
	"seek": func(f *fields) session.Command {
		return session.Seek{Step: f.whole("step", 1, 1<<20), Stage: infer.Kind(f.whole("stage", int(infer.KindForward), int(infer.KindCache)))}
	},
	"set": func(f *fields) session.Command {
		set := session.SetSampling{Temperature: f.decimal("temperature"), TopP: f.decimal("top_p"), MinP: f.decimal("min_p")}
		if f.Get("top_k") != "" {
			k := f.whole("top_k", 0, 1<<30)
			set.TopK = &k
		}
		if f.Get("seed") != "" {
			seed := f.seed()
			set.Seed = &seed
		}
		return set
	},
}

func (f *fields) seed() uint64 {
	n, err := strconv.ParseUint(strings.TrimSpace(f.Get("seed")), 10, 64)
	if err != nil {
		f.refuse("seed", "a whole number")
	}
	return n
}

// roomCommands are those that change the room. Each reads its fields; v is how
// the room stands.
var roomCommands = map[string]func(f *fields, v *class.View) class.Command{
	"goto":      func(f *fields, _ *class.View) class.Command { return class.GoTo{Step: f.whole("step", 1, 1000)} },
	"next-step": func(_ *fields, v *class.View) class.Command { return class.GoTo{Step: stepOf(v) + 1} },
	"prev-step": func(_ *fields, v *class.View) class.Command { return class.GoTo{Step: stepOf(v) - 1} },
	"ask-walk":  func(*fields, *class.View) class.Command { return class.AskWalk{} },
	"ask-next": func(f *fields, _ *class.View) class.Command {
		return class.AskNext{Choices: f.orWhole("n", 4, 8, 0), For: f.seconds()}
	},
	"new-poll": func(f *fields, _ *class.View) class.Command {
		return class.AskNext{Choices: f.orWhole("n", 4, 8, 0), For: f.seconds()}
	},
	"ask-question": func(f *fields, _ *class.View) class.Command {
		return class.AskQuestion{ID: f.Get("id"), For: f.seconds()}
	},
	"ask-draw":   func(f *fields, _ *class.View) class.Command { return class.AskDraw{For: f.seconds()} },
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
	"take-seat":       func(*fields, *class.View) class.Command { return class.TakeSeat{} },
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

// command reads a teacher's command.
func command(name string, values url.Values, v *class.View) (class.Command, error) {
	f := &fields{Values: values}
	var c class.Command
	if make, ok := roomCommands[name]; ok {
		c = make(f, v)
	} else if make, ok := runCommands[name]; ok {
		c = class.Drive{Do: make(f)}
	} else {
		return nil, &live.Error{Code: live.Unknown, Field: "cmd", Message: fmt.Sprintf("There is no command %q.", name)}
	}
	return c, f.err
}

// do carries out a command that came by a form.
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
		http.SetCookie(w, &http.Cookie{Name: cookieName(room.Code()), Path: "/class/" + room.Code(), MaxAge: -1, HttpOnly: true})
	}
	switch {
	case pages.Fragment(r):
		w.WriteHeader(http.StatusNoContent)
	case name == "delete":
		http.Redirect(w, r, "/teach?deleted=1", http.StatusSeeOther)
	default:
		http.Redirect(w, r, "/class/"+room.Code()+"/present", http.StatusSeeOther)
	}
}
