package polls

import (
	"slices"
	"strconv"
	"time"

	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/session"
)

// Cast converts a ballot to a vote. The parameter old is the member's vote in this round, if voted
// is set. In a draw, seed selects the member's random stream, and st is the state of the run.
func (p *Poll) Cast(
	b class.Ballot, old Vote, voted bool, now time.Time, seed uint64, st *session.State,
) (v Vote, err error) {
	if b.N < 0 || !(b.Sure >= 0 && b.Sure <= 1) {
		return v, terms.Refuse(class.CodeNotOffer, "class.refused.vote_numbers")
	}
	v = Vote{Sure: b.Sure, N: b.N}
	if v.N == 0 {
		v.N = max(now.UnixMilli(), old.N+1)
	}
	if p.Kind != class.Draw {
		v.Choice, err = p.read(b.Choice)
		return v, err
	}
	if voted { // members draw only once
		return old, nil
	}
	v.U = sampling.U(seed, p.ID<<8+p.Round)
	v.Choice, err = p.draw(st, v.U)
	return v, err
}

// read converts a choice to the form in which votes are counted: an option's key or a
// number. It is not used for draws.
func (p *Poll) read(choice string) (string, error) {
	if p.Kind == class.Number {
		x, err := readNumber(choice)
		return strconv.FormatFloat(x, 'g', -1, 64), err
	}
	if !slices.ContainsFunc(p.Options, func(o class.Option) bool { return !o.Rest && o.Key == choice }) {
		return "", terms.Refuse(class.CodeNotOffer, "class.refused.no_option", "option", class.Quoted(choice))
	}
	return choice, nil
}

// draw returns the key of the token that u selects at the poll's step.
func (p *Poll) draw(st *session.State, u float64) (key string, err error) {
	d := Distribution(st, p.Step)
	if d == nil {
		return "", terms.Refuse(class.CodeClosed, "class.refused.draw_gone")
	}
	return strconv.Itoa(int(d.Order[d.Draw(u)])), nil
}

// readNumber is like [terms.ReadNumber], but its error is a [*terms.Refusal] with
// [class.CodeNotOffer].
func readNumber(typed string) (float64, error) {
	x, ok := terms.ReadNumber(typed)
	if !ok {
		return 0, terms.Refuse(class.CodeNotOffer, "class.refused.not_number", "text", class.Quoted(typed))
	}
	return x, nil
}

// Receipt returns a receipt for the vote that counts. Without a state of the run, it names a token
// that is not an option by its number.
func (p *Poll) Receipt(v Vote, st *session.State) class.Receipt {
	r := class.Receipt{Poll: p.Key(), Round: p.Round, Choice: v.Choice, Text: v.Choice, U: v.U, Sure: v.Sure, N: v.N}
	if i := p.option(v.Choice); i >= 0 && !p.Options[i].Rest {
		r.Text = p.Options[i].Text
	} else if id, err := strconv.Atoi(v.Choice); err == nil && p.Kind == class.Draw && st != nil &&
		id >= 0 && id < st.Model.Config().Vocab {
		r.Text = TokenText(st.Model, id)
	}
	return r
}
