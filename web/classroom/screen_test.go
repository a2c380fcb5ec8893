package classroom

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/session/sessiontest"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/wire"
)

// stateAt returns the state of a run that has reached a stage of its second step.
func stateAt(t *testing.T, stage infer.Kind) *session.State {
	t.Helper()
	m := testmodel.Target(t)
	s := session.New(m, session.Limits{PromptBytes: 1000})
	commands := []session.Command{session.Start{Prompt: "The capital of France is"}, session.StepToken{}}
	for range stage {
		commands = append(commands, session.StepStage{})
	}
	for _, c := range commands {
		if _, err := s.Apply(context.Background(), c); err != nil {
			t.Fatal(err)
		}
	}
	return s.State()
}

// TestVeilHidesAskedStep: the veil keeps only the forward pass of the step that a poll asks
// about, and everything before that step.
func TestVeilHidesAskedStep(t *testing.T) {
	t.Parallel()
	var blank screen
	for stage := infer.KindForward; stage <= infer.KindSample; stage++ {
		st := stateAt(t, stage)
		v := veiled(st, 2)
		last := v.Steps[1]
		if last.Logits != nil || last.Chosen != 0 || last.P != 0 || last.Q != 0 || last.U != 0 ||
			last.Ran != infer.KindForward || v.Dist != nil {
			t.Errorf(
				"at stage %d, the veil leaves %+v; want Logits = nil, Chosen = 0, P = 0, Q = 0, U = 0, Ran "+
					"= %v, v.Dist = nil",
				stage, last, infer.KindForward,
			)
		}
		if v.Steps[0] != st.Steps[0] || st.Steps[1].Ran != stage {
			t.Errorf("at stage %d, the veil changes the original state", stage)
		}
		for _, view := range shell.Views {
			s := newVeiled(english, st, view, 2)
			if s.Strip.Next.Known || len(s.Strip.Tokens) != 1 || s.N != int(stage) ||
				s.Veiled != (stage > infer.KindForward) {
				t.Errorf(
					"%s, stage %d: the screen shows %+v; want Known = false, len(s.Strip.Tokens) = 1, s.N "+
						"= %d, s.Veiled = %t",
					view, stage, s.Strip.Next, int(stage), stage > infer.KindForward,
				)
			}
			if s.Veiled && (!reflect.DeepEqual(s.Panel, blank.Panel) || !reflect.DeepEqual(s.Story, blank.Story)) {
				t.Errorf("%s, stage %d: the panel is not empty", view, stage)
			}
		}
	}
}

// TestLookInsideRevealsNoAnswer: while the class might still be asked for the next token,
// looking inside the forward pass shows where the heads look, but not the blocks'
// predictions. After the scores, it shows both.
func TestLookInsideRevealsNoAnswer(t *testing.T) {
	t.Parallel()
	for _, last := range []infer.Kind{infer.KindForward, infer.KindLogits} {
		st := stateAt(t, infer.KindForward)
		if last > infer.KindForward {
			st = stateAt(t, last)
			st.Cursor.Stage = infer.KindForward
			st.Look = stateAt(t, infer.KindForward).Look
		}
		look := newScreen(english, st, shell.Numbers, true).Panel.Forward.Look
		inside := english.NewInside(discreet(st), 1)
		for i, b := range look.Blocks {
			if told := len(b.All) > 0; told != (last > infer.KindForward) || told != (len(inside.Says) > 0) {
				t.Errorf(
					"after stage %d, block %d shows its guess: got %t, want %t, %t", last, i+1, told,
					last > infer.KindForward, len(inside.Says) > 0,
				)
			}
		}
		if len(look.Columns) == 0 || len(inside.Steps) == 0 || len(st.Look.Blocks[0].Says) == 0 {
			t.Errorf("stage %d: the heads are not shown, or the run itself has lost its guesses", last)
		}
	}
}

// TestFollowersShareOneSnapshot: all followers with the same kind of screen get the same
// bytes. Before the reveal, these contain no probabilities from the step that the poll asks
// about.
func TestFollowersShareOneSnapshot(t *testing.T) {
	t.Parallel()
	st := stateAt(t, infer.KindSample)
	d := st.DistAt(2)
	p := &Pages{rest: st}
	v := &class.View{
		Seq: 7, Code: "ABCDEF", State: st, Hidden: true, Here: 3,
		Poll: &class.Poll{
			ID: "1.1", Kind: class.Next, Phase: class.Open, Round: 1, Step: 2, Prompt: "<p>Which?</p>",
			Votes: 2, Options: []class.Option{
				{Key: "1", Letter: "A", Text: " a", Token: true}, {Key: "2", Letter: "B", Text: " b", Token: true},
			},
		},
	}
	for _, l := range looks(onPhone, onWall) {
		first, err := p.snapshot(t.Context(), v, l)
		if err != nil {
			t.Fatal(err)
		}
		if again, _ := p.snapshot(t.Context(), v, l); again != first {
			t.Errorf("%s: the view was rendered again for a second follower", l)
		}
		text := string(first.Bytes())
		for r := range 3 {
			p, q := d.P[d.Order[r]], d.Q(r)
			for _, secret := range []string{terms.Prob(q), terms.Prob(p), terms.Percent(q), terms.Percent(p)} {
				if strings.Contains(text, ">"+secret) || strings.Contains(text, secret+"<") {
					t.Errorf(
						"%s: the bytes contain %s of the token of rank %d, want nothing of it before the reveal", l,
						secret, r+1,
					)
				}
			}
		}
		if !strings.Contains(text, `"seq":7`) || !strings.Contains(text, `"votes":2`) {
			t.Errorf("%s: the bytes do not contain the position or the votes", l)
		}
	}
}

// looks returns the variants of the given kinds of screens: each kind in each view.
func looks(kinds ...kind) (list []variant) {
	for _, k := range kinds {
		for _, view := range shell.Views {
			list = append(list, variant{k, view})
		}
	}
	return list
}

// TestLookOfRefusesBadFields: valid fields of a screen are accepted, and invalid fields are
// refused by name.
func TestLookOfRefusesBadFields(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]variant{
		"":                            {onPhone, shell.Numbers},
		"view=story":                  {onPhone, shell.Story},
		"screen=phone&view=numbers":   {onPhone, shell.Numbers},
		"screen=projector":            {onWall, shell.Numbers},
		"screen=projector&view=story": {onWall, shell.Story},
		"view=projector":              {},
		"screen=phone, inside":        {},
		"screen=projector&view=Story": {},
	} {
		q, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		got, err := variantOf(q)
		if e, refused := terms.AsRefusal(err); refused != (want == variant{}) {
			t.Errorf("%q gives %v, want %+v", query, err, want)
		} else if refused && (e.Field == "" || !q.Has(e.Field)) {
			t.Errorf("%q is refused because of %q, want one of its fields", query, e.Field)
		} else if !refused && got != want {
			t.Errorf("%q is %v, want %v", query, got, want)
		}
	}
}

// TestPlaceAddressRoundTrip: a formatted position is parsed back unchanged, and invalid positions
// are refused.
func TestPlaceAddressRoundTrip(t *testing.T) {
	t.Parallel()
	st := stateAt(t, infer.KindSoftmax)
	for _, good := range []session.Cursor{
		{Step: 1, Stage: infer.KindForward}, {Step: 1, Stage: infer.KindCache}, {Step: 2, Stage: infer.KindSoftmax},
	} {
		if got, ok := parseAt(st, at(good)); !ok || got != good {
			t.Errorf("%s parses to %v, %t; want %v, true", at(good), got, ok, good)
		}
	}
	for _, bad := range []string{"", "1", "1.0", "1.8", "0.1", "2.4", "3.1", "01.1", "1.1x", "-1.1"} {
		if c, ok := parseAt(st, bad); ok {
			t.Errorf("parseAt(%q) = %v, want it refused", bad, c)
		}
	}
	// Stage 7 of step 1 is between stage 6 of step 1 and stage 1 of step 2.
	if back, next := neighbors(st, session.Cursor{Step: 1, Stage: infer.KindCache}); back != "1.6" || next != "2.1" {
		t.Errorf("neighbors of 1.7: got %s, %s; want %s, %s", back, next, "1.6", "2.1")
	}
	if _, next := neighbors(st, session.Cursor{Step: 2, Stage: infer.KindSoftmax}); next != "" {
		t.Errorf("the position after the last is %s, want none", next)
	}
}

// TestInsideIsRenderedOnce: the view inside a forward pass is rendered once for everyone who looks
// inside. It is not sent to anyone else, and while a poll asks for the token, it is not sent at
// all.
func TestInsideIsRenderedOnce(t *testing.T) {
	t.Parallel()
	st := stateAt(t, infer.KindForward)
	if st.Look == nil {
		t.Fatal("runs of the bundled model do not look inside by default")
	}
	p := &Pages{rest: session.New(st.Model, session.Limits{}).State()}
	shown := func(v *class.View, kind variant) string {
		t.Helper()
		e, err := p.snapshot(t.Context(), v, kind)
		if err != nil {
			t.Fatal(err)
		}
		if again, _ := p.snapshot(t.Context(), v, kind); again != e {
			t.Errorf("%s: it was rendered again for a second follower", kind)
		}
		return string(e.Bytes())
	}
	poll := &class.Poll{ID: "1.1", Kind: class.Next, Phase: class.Open, Round: 1, Step: 2}
	open, asking := &class.View{Seq: 7, Code: "ABCDEF", State: st}, &class.View{
		Seq: 8, Code: "ABCDEF", State: st, Hidden: true, Poll: poll,
	}
	for _, kind := range looks(onPhone, onPhoneInner, onWall) {
		inside := kind.kind != onPhone && kind.view == shell.Numbers
		for _, part := range []string{`"heat":{`, "data-heat"} {
			if got := shown(open, kind); strings.Contains(got, part) != inside {
				t.Errorf("%s: %s is present: %t, want %t", kind, part, !inside, inside)
			}
			if strings.Contains(shown(asking, kind), part) {
				t.Errorf("%s: %s is present while the class is asked, want it absent", kind, part)
			}
		}
	}
	for name, v := range map[string]*class.View{
		"a class that is asked": asking, "a run that rests": {Seq: 9, Code: "ABCDEF"},
	} {
		m := p.insideOf(t.Context(), v, wire.Command{Name: "inside", N: 3, Fields: []byte(`{"block":6}`)})
		if len(m.Panels) != 1 || !strings.Contains(m.Panels[0].HTML, "There is nothing to see inside here") {
			t.Errorf(
				"%s gets %+v; want len(Panels) = 1, Panels[0].HTML with %q", name, m,
				"There is nothing to see inside here",
			)
		}
	}
	for _, bad := range []string{`{"block":0}`, `{"block":7}`, `{"block":-1,"head":1}`, `{"block":"x"}`} {
		m := p.insideOf(t.Context(), open, wire.Command{Name: "inside", N: 3, Fields: []byte(bad)})
		if m.Error == nil || m.Ack != 3 {
			t.Errorf("the reply to %s is %+v; want an error, Ack = 3", bad, m)
		}
	}
	noHead := wire.Command{Name: "head", N: 3, Fields: []byte(`{"block":1,"head":7}`)}
	if m := p.insideOf(t.Context(), open, noHead); m.Error == nil {
		t.Errorf("the reply about a head that does not exist is %+v", m)
	}
}

// TestLastingInWords: the time for which a room is kept is formatted in words.
func TestLastingInWords(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		720 * time.Hour: "30 days", 24 * time.Hour: "1 day", 36 * time.Hour: "36 hours", time.Hour: "1 hour",
		100 * time.Minute: "2 hours",
	} {
		if got := lasting(english, d); got != want {
			t.Errorf("lasting(%v) = %q, want %q", d, got, want)
		}
	}
}

// TestWallWithholdsTheDraw: until the presenter requests a draw with a button, walls and
// phones look the same regardless of the draw's result. Viewing other stages does not reveal the
// result either.
func TestWallWithholdsTheDraw(t *testing.T) {
	t.Parallel()
	const seed = 777001
	at := func(seed uint64) (withheld, drawn *session.State) {
		s := session.New(testmodel.Target(t), session.Limits{PromptBytes: 1000})
		for _, c := range []session.Command{
			session.SetKnob("seed", float64(seed)),
			session.Start{Prompt: "The capital of"},
			session.StepStage{},
			session.StepStage{},
			session.StepStage{},
			session.StepStage{Withhold: true},
		} {
			sessiontest.Do(t, s, c)
		}
		return s.State(), sessiontest.Do(t, s, session.Draw{})
	}
	html := func(st *session.State, view shell.View) string {
		d := moving(english, &class.View{State: st}, view, nil, false)
		var b strings.Builder
		for _, c := range []templ.Component{
			stageBody("cl-stage", d.Screen), deckBody(d), english.StepperHTML("cl-rail", d.Screen.Rail, false),
			textHTML("cl-strip", d.Screen, false),
		} {
			if err := c.Render(t.Context(), &b); err != nil {
				t.Fatal(err)
			}
		}
		return strings.ReplaceAll(b.String(), strconv.FormatUint(st.Settings.Seed, 10), "SEED")
	}
	st, drawn := at(seed)
	if s := newScreen(english, st, shell.Numbers, false); s.N != 5 || !s.Panel.Undrawn || s.Strip.Next.Known {
		t.Errorf(
			"the wall shows stage %d with the next token known: %v; want s.N = 5, s.Panel.Undrawn = true, "+
				"s.Strip.Next.Known = false",
			s.N, s.Strip.Next.Known,
		)
	}
	if s := newScreen(english, st, shell.Story, false); s.Story.Line == nil || !s.Story.Line.Open {
		t.Errorf("in the Story view, the wall shows %+v, want Line not nil, Line.Open = true", s.Story)
	}
	if got := forwardButton(english, &class.View{State: st}); got.Say != "Let it fall" {
		t.Errorf("the presenter's button is %q, want %q", got.Say, "Let it fall")
	}
	if v := lookAt(st, session.Cursor{Step: 1, Stage: infer.KindSoftmax}, nil); v.Undrawn {
		t.Error("looking at another stage reveals the withheld draw")
	}
	for other := uint64(seed + 1); other < seed+10; other++ {
		otherwise, otherDrawn := at(other)
		for _, view := range shell.Views {
			if html(otherwise, view) != html(st, view) {
				t.Errorf("%s: with seed %d, the wall differs before the draw, want it to be the same", view, other)
			}
			if html(otherDrawn, view) == html(drawn, view) {
				t.Errorf("%s, seed %d: after the draw, the wall shows the same token, want another one", view, other)
			}
		}
	}
}

// TestCanceledCommandsAreNotLogged: if a command is canceled because its connection ended,
// for example when the server stops, no error is logged; other errors are logged.
func TestCanceledCommandsAreNotLogged(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		logs bool
	}{
		{fmt.Errorf("the run: %w", context.Canceled), false}, {errors.New("a mistake"), true}, {class.ErrGone, false},
	} {
		var log bytes.Buffer
		p := &Pages{Deps: Deps{Log: slog.New(slog.NewTextHandler(&log, nil))}}
		m := p.answered(3, c.err)
		if logged := log.Len() > 0; m.Error == nil || m.Ack != 3 || logged != c.logs {
			t.Errorf("%v: got reply %+v, log %q; want an error, Ack = 3, logged: %v", c.err, m, &log, c.logs)
		}
	}
}
