package polls

import (
	"slices"
	"strings"
	"unicode"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/lessons/predict"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/session"
)

const (
	SureShare  = 0.8 // if a token has at least this share, there is nothing to vote on
	wordsShare = 0.5 // whole words must have at least this share in total
	someWords  = 0.2 // if whole words have at least this share, only they become options of a vote
)

// WholeWord reports whether a token can be read as a whole word: it begins a word and is not just a
// fragment such as " M" or " str". Since the token's text alone does not settle this, short tokens
// count only if they are common words.
func WholeWord(m *infer.Model, id int) bool {
	t := m.Token(id)
	word, begins := strings.CutPrefix(t.Text, " ")
	other := func(r rune) bool { return !unicode.IsLetter(r) }
	if t.Special || !begins || word == "" || strings.ContainsFunc(word, other) {
		return false
	}
	if len([]rune(word)) <= 3 {
		return slices.Contains(shortWords, strings.ToLower(word))
	}
	return strings.ContainsAny(strings.ToLower(word), "aeiouy")
}

// shortWords are the common English words of up to three letters.
var shortWords = strings.Fields(`a i am an as at be by do go he if in is it me my no of on or so to up us we
	act add age ago air all and any arm art ask bad bag bed bee big bit box boy bus but buy can cap car cat cow cry
	cup cut day did dog dry due eat egg end eye far few fig fit fly fog for fox fun gas get god got had has hat hen
	her hid him his hot how ice its jam job joy key kid law lay led leg let lie lot low mad man map may men met mix
	mud net new nor not now nut oak off oil old one our out own pay pen pet pie pig pot put ran rat red rid rob row
	run sad sat saw say sea see set she shy sir sit six sky son sun tax tea ten the tie tin toe too top toy try two
	use van war was way web wet who why win wit won yes yet you zoo`)

// WhyClosed checks the position to which [moves.Undrawn] has moved the run. It returns nil if the
// position is open, and otherwise an offer that contains the reason.
func WhyClosed(st *session.State) *class.Offer {
	d, _ := drawnBy(st)
	switch top := d.KeptQ(0); {
	case top >= SureShare:
		return &class.Offer{Share: top}
	case shareOfWords(st.Model, d) < wordsShare:
		return &class.Offer{}
	}
	return nil
}

// shareOfWords returns the total probability of whole words after filtering.
func shareOfWords(m *infer.Model, d *sampling.Distribution) (share float64) {
	for i := range d.Keep {
		if rank := d.KeptRank(i); WholeWord(m, int(d.Order[rank])) {
			share += d.Q(rank)
		}
	}
	return share
}

// candidates returns n tokens to vote on. If enough of the likely tokens are whole words,
// all candidates are whole words, except possibly the drawn token.
func candidates(st *session.State, d *sampling.Distribution, drawn int32, n int, seed uint64) []int32 {
	words := make([]int32, 0, 4*n)
	for _, id := range d.Order {
		if id == drawn || WholeWord(st.Model, int(id)) {
			if words = append(words, id); len(words) == cap(words) {
				break
			}
		}
	}
	if shareOfWords(st.Model, d) < someWords || len(words) < n {
		return predict.Deal(d, drawn, n, seed)
	}
	return predict.DealOf(words, drawn, n, seed)
}
