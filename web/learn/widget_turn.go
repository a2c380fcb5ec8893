package learn

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/view"
)

// How far the experiment goes by itself, and how many tokens it lists.
const (
	turnTokens = 24
	turnRows   = 6
	stages     = int(infer.KindCache)
)

func turnFields() []field {
	return slices.Concat(
		[]field{promptField("prompt", "Prompt")},
		samplingFields(infer.DefaultSettings().Settings),
		[]field{
			{
				Name: "tokens", Label: "Tokens", Kind: inFixed, Min: 1, Max: 512, Step: 1,
				Default: fmt.Sprint(turnTokens),
			},
			knobField("seed", "42"),
			atField(float64(512*stages), "1"),
		},
	)
}

// turnWidget walks through the loop stage by stage. A place counts stages: 1 is
// the first forward pass, 8 the second.
type turnWidget struct {
	model *infer.Model
	key   string // inputs that the run was started with
	run   *session.Session
}

func newTurnWidget(d desk) experiment { return &turnWidget{model: d.target} }

func (e *turnWidget) show(ctx context.Context, in values) (templ.Component, error) {
	s := settingsOf(in)
	if key := fmt.Sprint(s, in["prompt"]); e.run == nil || e.key != key {
		run, err := newRun(ctx, e.model, in["prompt"], s)
		if err != nil {
			return nil, err
		}
		e.run, e.key = run, key
	}
	st, err := e.goTo(ctx, in.whole("at"))
	if err != nil {
		return nil, err
	}
	at := (st.Cursor.Step-1)*stages + int(st.Cursor.Stage)
	in.set("at", at)
	return turnStageHTML(e.view(st, at)), nil
}

// goTo looks at a place, running what has not run; where the text ends before
// it, at the end.
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

// stageView is the loop at one stage.
type stageView struct {
	Given    []view.Token // the prompt
	Made     []view.Token // generated before this turn, and in it once appended
	Next     *view.Text   // what has been drawn and not appended; nil before
	Waiting  bool         // the text has a next token
	Reads    string       // class that marks the tokens read by this pass
	Turn     int
	Rail     []railStage
	Say      view.Rich
	Facts    []fact
	Rows     []stageRow
	Rest     *stageRow
	Stage    int
	Settings string
	Back     place
	Forward  place
	Token    place // to the same stage of the next turn
	Loop     string
}

// railStage is one of the seven in the rail.
type railStage struct {
	N         int
	Name      string
	Now, Done bool
}

// fact is a number of a stage.
type fact struct{ Name, Value string }

// stageRow is a token of the table, with what is known at the stage.
type stageRow struct {
	Text       view.Text
	Z, P, Q    string
	BarP, BarQ string // SVG lengths
	Cut, Pick  bool
}

func (e *turnWidget) view(st *session.State, at int) stageView {
	strip := view.NewLoop(st).Strip
	step, stage := st.Step(), st.Cursor.Stage
	made := strip.Tokens
	if keep := st.Cursor.Step - 1; stage < infer.KindAppend && len(made) > keep {
		made = made[:keep]
	} else if len(made) > keep+1 {
		made = made[:keep+1]
	}
	v := stageView{
		Given: strip.Prompt, Made: made, Turn: st.Cursor.Step, Stage: int(stage),
		Waiting: step.Ran < infer.KindAppend || stage < infer.KindAppend || step.Stop == infer.StopNone,
		Rail:    railOf(stage), Say: stageSay(st, stage), Facts: stageFacts(st, stage), Loop: loopAt(st),
		Settings: settingsSay(step.Settings.Settings, int(step.Settings.Seed)),
	}
	if stage == infer.KindForward {
		v.Reads = "w-text--one"
		if step.N == 1 {
			v.Reads = "w-text--all"
		}
	}
	if stage == infer.KindSample {
		t := view.TokenText(e.model.Token(step.Chosen))
		v.Next = &t
	}
	if stage >= infer.KindLogits {
		v.Rows, v.Rest = stageRows(st, stage)
	}
	end := stage == infer.KindCache && step.Stop != infer.StopNone
	v.Back = place{Words: "Back", At: at - 1}
	v.Forward = place{Words: "Next stage", At: at + 1, Main: true}
	v.Token = place{Words: "Next token", At: at + stages}
	if end {
		v.Forward.At, v.Token.At = 0, 0
	}
	return v
}

func railOf(now infer.Kind) []railStage {
	list := make([]railStage, stages)
	for i := range list {
		list[i] = railStage{i + 1, terms.StageAt(i + 1).Short, i+1 == int(now), i+1 < int(now)}
	}
	return list
}

// stageRows are the table's rows with the columns that a stage has, and the sum
// of the tokens that have none.
func stageRows(st *session.State, stage infer.Kind) ([]stageRow, *stageRow) {
	known := min(stage, infer.KindFilter)
	var rows infer.Rows
	switch s := st.StageOf(known, turnRows).(type) {
	case infer.Logits:
		rows = s.Rows
	case infer.Softmax:
		rows = s.Rows
	case infer.Filter:
		rows = s.Rows
	}
	rest := &stageRow{Text: view.Text{{S: terms.Counted(rows.Rest.N, "other")}}}
	if stage >= infer.KindSoftmax {
		rest.P, rest.BarP = terms.Prob(rows.Rest.P), view.Share(rows.Rest.P)
	}
	if stage >= infer.KindFilter {
		rest.Q, rest.BarQ, rest.Cut = terms.Prob(rows.Rest.Q), view.Share(rows.Rest.Q), rows.Rest.Kept == 0
	}
	var list []stageRow
	for _, r := range rows.Rows {
		row := stageRow{Text: view.TokenText(r.Token), Z: terms.Logit(float64(r.Z))}
		if stage >= infer.KindSoftmax {
			row.P, row.BarP = terms.Prob(r.P), view.Share(r.P)
		}
		if stage >= infer.KindFilter {
			row.Cut = !r.Kept
			if r.Kept {
				row.Q, row.BarQ = terms.Prob(r.Q), view.Share(r.Q)
			}
		}
		row.Pick = stage >= infer.KindSample && r.ID == st.Step().Chosen
		list = append(list, row)
	}
	return list, rest
}
