package polls

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/tokenbytoken/viz/web/class"
)

// Poll contains all data of a poll; the poll's phase determines how much of it others see. A
// published poll is never changed; changes are made to a copy.
type Poll struct {
	ID         int            `json:"id"`
	Kind       class.Kind     `json:"kind"`
	Phase      class.Phase    `json:"phase"`
	Round      int            `json:"round"`
	Prompt     string         `json:"prompt"`      // HTML
	PromptText string         `json:"prompt_text"` // plain
	Unit       string         `json:"unit,omitempty"`
	Asked      time.Time      `json:"asked"`
	Ends       time.Time      `json:"ends,omitzero"`
	Step       int            `json:"step,omitempty"`
	Options    []class.Option `json:"options,omitempty"` // with P, Q, Right and Why, without counts
	Answer     string         `json:"answer,omitempty"`
	Right      *float64       `json:"right,omitempty"`
	Within     float64        `json:"within,omitempty"`
}

// Round identifies one round of a poll.
type Round struct{ Poll, N int }

// MarshalText encodes a round as a JSON key.
func (r Round) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%d.%d", r.Poll, r.N), nil }

// UnmarshalText is the inverse of MarshalText.
func (r *Round) UnmarshalText(text []byte) error {
	_, err := fmt.Sscanf(string(text), "%d.%d", &r.Poll, &r.N)
	return err
}

// At returns the current round of the poll.
func (p *Poll) At() Round { return Round{p.ID, p.Round} }

// Key identifies the poll and its round, so that a late vote does not count in another round.
func (p *Poll) Key() string { return fmt.Sprintf("%d-%d", p.ID, p.Round) }

// AboutToken reports whether the poll is about the token that comes next.
func (p *Poll) AboutToken() bool { return p.Kind == class.Next || p.Kind == class.Draw }

// Live reports whether the poll is open.
func (p *Poll) Live() bool { return p.Phase == class.Open }

// Accepts reports whether a ballot is for this round of the poll and arrives in time.
func (p *Poll) Accepts(b class.Ballot, now time.Time) bool {
	return p.Key() == b.Poll && p.Live() && !p.Over(now)
}

// Over reports whether a poll's time is up.
func (p *Poll) Over(now time.Time) bool { return !p.Ends.IsZero() && !now.Before(p.Ends) }

// option returns the index of the option that a choice counts toward, or −1.
func (p *Poll) option(choice string) int {
	i := slices.IndexFunc(p.Options, func(o class.Option) bool { return o.Key == choice })
	if i < 0 {
		i = slices.IndexFunc(p.Options, func(o class.Option) bool { return o.Rest })
	}
	return i
}

// value returns the number that was chosen in a poll on a number.
func value(choice string) float64 {
	x, _ := strconv.ParseFloat(choice, 64) // cannot fail: read created the string
	return x
}

// isRight reports whether a choice is right. The error of a number may exceed the margin
// very slightly, since 0.65 − 0.6 is more than 0.05 in binary floating point.
func (p *Poll) isRight(choice string) bool {
	if p.Kind == class.Number {
		x := value(choice)
		return p.Right != nil && math.Abs(x-*p.Right) <= p.Within+1e-9*math.Abs(*p.Right)
	}
	i := p.option(choice)
	return i >= 0 && p.Options[i].Right && !p.Options[i].Rest
}

// judged reports whether the poll has a right answer.
func (p *Poll) judged() bool {
	isRight := func(o class.Option) bool { return o.Right }
	return p.Kind == class.Next || p.Right != nil || slices.ContainsFunc(p.Options, isRight)
}
