package learn

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/guess"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/stage"
)

// turnRows is the number of tokens listed, and stages is the number of stages.
const (
	turnRows = 6
	stages   = int(infer.KindCache)
)

// turnWidget steps through the loop stage by stage. Positions count stages: 1 is the first
// forward pass, and 8 is the second.
type turnWidget struct {
	model *infer.Model
	story bool   // shown in the Story
	key   string // the inputs that the run was started with
	run   *session.Session
}

func newTurnWidget(d environment) experiment {
	return &turnWidget{model: d.target, story: d.view == shell.Story}
}

func (e *turnWidget) show(ctx context.Context, in terms.Values) (templ.Component, error) {
	s := settingsOf(in)
	if key := fmt.Sprint(s, in["prompt"]); e.run == nil || e.key != key {
		run, err := newRun(ctx, e.model, in["prompt"], s)
		if err != nil {
			return nil, err
		}
		e.run, e.key = run, key
	}
	st, err := e.goTo(ctx, in.Int("at"))
	if err != nil {
		return nil, err
	}
	at := (st.Cursor.Step-1)*stages + int(st.Cursor.Stage)
	in.SetInt("at", at)
	w := stage.In(ctx)
	v := e.view(w, st, at)
	if e.story {
		return turnStoryHTML(newTurnStory(w, st, v)), nil
	}
	return turnStageHTML(v), nil
}

// goTo moves to a position, after running any stages before it that have not run yet. If the text
// ends earlier, goTo moves to its end.
func (e *turnWidget) goTo(ctx context.Context, at int) (*session.State, error) {
	f := e.run.State().Frontier()
	if ran := (f.Step-1)*stages + int(f.Stage); at <= ran {
		return seekTo(ctx, e.run, (at-1)/stages+1, infer.Kind((at-1)%stages+1))
	}
	st, err := seekTo(ctx, e.run, f.Step, f.Stage)
	for err == nil && (st.Cursor.Step-1)*stages+int(st.Cursor.Stage) < at {
		var next *session.State
		next, err = e.run.Apply(ctx, session.StepStage{})
		if err == nil {
			st = next
		}
	}
	if stop := new(terms.Refusal); errors.As(err, &stop) && stop.Code == session.CodeStopped {
		return st, nil
	}
	return st, err
}

// A stageView shows the loop at one stage.
type stageView struct {
	Given      []stage.Token // the prompt
	Made       []stage.Token // generated so far, including this turn's token once it is appended
	Next       *stage.Next   // the slot; nil if no token comes next
	Reads      string        // class that marks the tokens that this pass reads
	Turn       int
	Rail       []stage.RailStage
	Say        stage.Rich
	Facts      []stage.Fact
	Candidates stage.Candidates // empty before there are scores
	Stage      int
	Enter      string // its name, for animations
	Settings   string
	Back       target
	Forward    target
	Token      target // to the same stage of the next turn
	Loop       string
}

func (e *turnWidget) view(w stage.Words, st *session.State, at int) stageView {
	strip := w.NewStrip(st)
	step, kind := st.Step(), st.Cursor.Stage
	made := strip.Tokens
	if keep := st.Cursor.Step - 1; kind < infer.KindAppend && len(made) > keep {
		made = made[:keep]
	} else if len(made) > keep+1 {
		made = made[:keep+1]
	}
	v := stageView{
		Given: strip.Prompt, Made: made, Turn: st.Cursor.Step, Stage: int(kind), Enter: kind.String(),
		Rail: w.NewSteps(
			kind,
		), Say: behindName(w, st, kind), Facts: w.FactsOf(stage.Brief, st, kind), Loop: loopAt(st),
		Settings: w.Drawn(step.Settings.Settings, step.Settings.Seed),
	}
	if kind == infer.KindForward {
		v.Reads = "w-text--one"
		if step.N == 1 {
			v.Reads = "w-text--all"
		}
	}
	if kind < infer.KindAppend || step.Stop == infer.StopNone {
		v.Next = w.NewSlot(st)
	}
	if kind >= infer.KindLogits {
		v.Candidates = w.NewCandidates(st, kind, turnRows)
	}
	end := kind == infer.KindCache && step.Stop != infer.StopNone
	v.Back = target{Words: w.T("learn.widget.previous"), At: at - 1}
	v.Forward = target{Words: w.T("learn.loop.stage"), At: at + 1, Main: true}
	v.Token = target{Words: w.T("learn.widget.token"), At: at + stages}
	if end {
		v.Forward.At, v.Token.At = 0, 0
	}
	return v
}

// A turnStory shows the loop at one stage in the Story.
type turnStory struct {
	stageView
	Story  stage.Story
	Prompt string
	Text   stage.Strip
}

func newTurnStory(w stage.Words, st *session.State, v stageView) turnStory {
	t := turnStory{v, w.NewStory(st), st.Prompt, w.NewStrip(st)}
	t.Rail = stage.Verbs(t.Rail)
	t.Text.Tokens = v.Made // the text as it was at this stage
	if t.Text.Next.Stopped = v.Next == nil; v.Next != nil {
		t.Text.Next = *v.Next
	}
	return t
}

// behindName returns a stage's number and name, followed by a description of its effect.
func behindName(w stage.Words, st *session.State, kind infer.Kind) stage.Rich {
	return w.Rich(
		"learn.loop.say", "n", int(kind), "stage", w.Stage(int(kind)).Short,
		"say", w.SentenceOf(stage.Brief, st, kind),
	)
}

// answer implements [judge]. It is about the first token and the pass after it.
func (e *turnWidget) answer(w stage.Words, ask string) (key, say string, ok bool) {
	st := e.run.State()
	first, shown := st.Steps[0], (st.Cursor.Step-1)*stages+int(st.Cursor.Stage)
	if ask == "second" {
		if shown < stages+int(infer.KindForward) {
			return "", "", false
		}
		read, prompt := len(st.Steps[1].Input), len(st.PromptTokens)
		key = "all"
		if read == 1 {
			key = "new"
		} else if read <= prompt {
			key = "prompt"
		}
		return key, w.T("learn.ask.second.say", "tokens", w.Counted(read, "token"), "prompt", prompt), true
	}
	if shown < int(infer.KindSoftmax) {
		return "", "", false
	}
	temperature := first.Settings.Temperature
	if temperature == 0 {
		temperature = 1 // as in the list of candidates
	}
	p, _, _ := sampling.Softmax(first.Logits, temperature)
	some := 0
	for _, x := range p {
		if x > 0 {
			some++
		}
	}
	if ask == "scored" {
		key = "all"
		if some < len(p) {
			key = guess.Among(float64(some), []float64{3, 100}, "1", "10", "1000")
		}
		return key, w.T("learn.ask.scored.say", "n", some, "all", len(p)), true
	}
	top := slices.Max(p)
	key = guess.Among(top, []float64{0.1, 0.35, 0.7}, "5", "20", "50", "90")
	return key, w.T("learn.ask.favorite.say", "p", terms.Percent(top)), true
}
