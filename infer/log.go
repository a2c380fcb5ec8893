package infer

import (
	"context"
	"fmt"

	"github.com/tokenbytoken/viz/infer/chat"
)

// A Log holds everything needed to generate a run's text again, bit for bit, with the same model:
// the prompt, the settings and the steps from which they applied, the tokens that a person chose,
// and how far the run got.
type Log struct {
	Model    string // [Model.Hash]
	Prompt   string
	Marks    []int    // offsets of its special tokens, if it is a chat: see [chat.Text]
	IDs      []int    `json:",omitempty"` // its tokens, if encoding the text would give other tokens
	Kept     int      // number of prompt columns that were cached before the run: see [Loop.Continue]
	Changes  []Change // by step; the first is from step 1
	Choices  []Choice // by step
	WentOn   []int    // steps that stopped the run and after which a person continued it
	Settings Settings // for the steps that follow
	Steps    int      // 0 if no stage had run
	Ran      Kind     // the last stage of the last step
}

// Choice is a token that a person chose at a step, in place of the drawn token.
type Choice struct {
	Step, Token int
}

// Change is a change of the settings. The new settings first apply at step From.
type Change struct {
	From     int
	Settings Settings
}

// Log returns the run's log.
func (l *Loop) Log() Log { return LogOf(l.model, l.text, l.steps, l.settings) }

// Text returns the prompt with its special tokens.
func (log Log) Text() chat.Text { return chat.Text{Text: log.Prompt, Marks: log.Marks, IDs: log.IDs} }

// LogOf returns the log of steps that a loop on m with this prompt has run. settings apply to the
// steps that follow.
func LogOf(m *Model, prompt chat.Text, steps []*Step, settings Settings) Log {
	log := Log{
		Model: m.hash, Prompt: prompt.Text, Marks: prompt.Marks, IDs: prompt.IDs, Settings: settings,
		Steps: len(steps),
	}
	if len(steps) > 0 {
		log.Kept = steps[0].Start
	}
	for i, s := range steps {
		if i == 0 || !s.Settings.Equal(steps[i-1].Settings) {
			log.Changes = append(log.Changes, Change{s.N, s.Settings})
		}
		if s.Forced {
			log.Choices = append(log.Choices, Choice{s.N, s.Chosen})
		}
		if s.WentOn {
			log.WentOn = append(log.WentOn, s.N)
		}
		log.Ran = s.Ran
	}
	return log
}

// Replay runs a log again from the start. Token limits and stop strings do not end the replay. If
// the log has further steps, the run continued past that limit or string, because the limit or
// string was changed later or was set after the next step had begun.
func Replay(ctx context.Context, m *Model, log Log) (*Loop, error) {
	if log.Model != m.hash {
		return nil, fmt.Errorf("this run was made by another model (%.12s…; this one is %.12s…)", log.Model, m.hash)
	}
	settings := log.Settings
	if len(log.Changes) > 0 {
		settings = log.Changes[0].Settings
	}
	l, err := NewChat(m, log.Text(), settings)
	if err != nil {
		return nil, err
	}
	if err := l.readAhead(ctx, log.Kept); err != nil {
		return nil, err
	}
	changes, choices, wentOn := log.Changes, log.Choices, log.WentOn
	for len(l.steps) < log.Steps || (log.Steps > 0 && l.steps[log.Steps-1].Ran < log.Ran) {
		if l.BetweenTurns() && len(changes) > 0 && changes[0].From == len(l.steps)+1 {
			if err := l.Set(changes[0].Settings); err != nil {
				return nil, err
			}
			changes = changes[1:]
		}
		n := len(l.steps)
		switch {
		case n > 0 && len(choices) > 0 && choices[0].Step == n && l.steps[n-1].Ran == KindFilter:
			if err := l.Choose(ctx, n, choices[0].Token); err != nil {
				return nil, fmt.Errorf("replaying step %d: %w", n, err)
			}
			choices = choices[1:]
			continue
		case l.BetweenTurns() && len(wentOn) > 0 && wentOn[0] == n:
			l.steps[n-1].WentOn = true // this step has not been returned yet
			wentOn = wentOn[1:]
		}
		if stop := l.Stopped(); l.BetweenTurns() && (stop == StopEOS || stop == StopContext) {
			return nil, fmt.Errorf("replaying step %d: the text ends before it (%s)", n+1, stop)
		}
		if _, err := l.run(ctx); err != nil {
			return nil, fmt.Errorf("replaying step %d: %w", n+1, err)
		}
	}
	if n := len(l.steps); n > 0 && len(wentOn) > 0 && wentOn[0] == n {
		l.steps[n-1].WentOn = true
	}
	return l, l.Set(log.Settings)
}
