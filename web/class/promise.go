package class

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/web/session"
)

// A reveal names the token that the run's own u draws, with the settings of that moment. The
// instructor may change the settings before the draw: a walkthrough does, to show what a
// filter does. The draw then follows the new settings, so if it no longer gives the token
// that was named, everybody sees that the reveal is withdrawn.

// textBefore identifies the text that a step continues, so that a poll is not mistaken for
// one about the same step of another text.
func textBefore(st *session.State, step int) string {
	text := []byte(st.Prompt)
	for _, s := range st.Steps[:step-1] {
		text = binary.BigEndian.AppendUint64(text, uint64(s.Chosen))
	}
	sum := sha256.Sum256(text)
	return base64.RawURLEncoding.EncodeToString(sum[:9])
}

// settingsOf identifies the settings of the next draw.
func settingsOf(st *session.State) string {
	text, err := json.Marshal(st.Settings)
	if err != nil {
		return "" // equals that of no poll
	}
	sum := sha256.Sum256(text)
	return base64.RawURLEncoding.EncodeToString(sum[:9])
}

// brokenReveal returns the reveal at the step shown if it does not hold, else nil.
func (c *core) brokenReveal() *Broken {
	st := c.state
	if st == nil || !st.Started() {
		return nil
	}
	at := st.Cursor.Step
	p := c.revealedAt(at)
	if p == nil {
		return nil
	}
	i := slices.IndexFunc(p.Options, func(o Option) bool { return o.Right })
	if i < 0 {
		return nil
	}
	b := &Broken{Said: p.Options[i].Text}
	said := p.Options[i].Key
	if step := st.Steps[at-1]; step.Ran >= firstChosen {
		if step.Forced || strconv.Itoa(step.Drawn) == said {
			return nil // what a person chose is no draw
		}
		b.Drew = readable(st.Model, step.Chosen)
		return b
	}
	if settingsOf(st) == p.Settings {
		return nil
	}
	d := distribution(st, at)
	if d == nil { // the change cut the step back to where it was shown
		b.Unsure = true
		return b
	}
	if strconv.Itoa(int(d.Order[d.Draw(sampling.U(st.Settings.Seed, at))])) == said {
		return nil
	}
	return b
}

// revealedAt returns the newest poll about the token of a step, if it is revealed.
func (c *core) revealedAt(step int) *poll {
	before := ""
	for _, p := range slices.Backward(c.polls) {
		if !p.aboutToken() || p.Step != step || p.Before == "" {
			continue
		}
		if before == "" {
			before = textBefore(c.state, step)
		}
		if p.Before == before {
			if p.Phase != Revealed {
				return nil
			}
			return p
		}
	}
	return nil
}
