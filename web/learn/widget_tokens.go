package learn

import (
	"context"
	"fmt"
	"hash/fnv"
	"unicode"
	"unicode/utf8"

	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/stage"
)

// tokenCuts shows how a text is cut into tokens.
type tokenCuts struct{ model *infer.Model }

func newTokens(d environment) experiment { return &tokenCuts{d.target} }

func (e *tokenCuts) show(ctx context.Context, in terms.Values) (templ.Component, error) {
	run, err := newRun(ctx, e.model, in["prompt"], settingsOf(in))
	if err != nil {
		return nil, err
	}
	st, err := stageTo(ctx, run, infer.KindForward)
	if err != nil {
		return nil, err
	}
	w := stage.In(ctx)
	v := tokensView{Letters: utf8.RuneCountInString(in["prompt"]), Loop: loopAt(st), Vocab: e.model.Config().Vocab}
	if cuttable(in["prompt"]) {
		v.Text, v.Cuttable = in["prompt"], w.PictureText(st, true).Letters
	}
	ids := e.model.Encode(in["prompt"])
	start := 0
	if bos := e.model.Config().BOS; bos >= 0 && len(ids) > 0 && ids[0] == bos {
		start = 1 // the start mark is not a part of the text
	}
	for i, id := range ids[start:] {
		t := e.model.Token(id)
		shown := stage.TokenText(t)
		v.Tokens = append(v.Tokens, stage.Token{
			Pos: start + i, Text: shown, Small: terms.Count(id),
			Aria: w.T("learn.tokens.token", "token", shown.String(), "n", id),
		})
	}
	return tokensHTML(v), nil
}

// A tokensView shows the tokens of a text.
type tokensView struct {
	Tokens  []stage.Token
	Letters int
	Vocab   int
	Loop    string

	Text     string // the text that the learner can cut first, or ""
	Cuttable []stage.PictureLetter
}

// mostCut is the maximum number of letters in a text that a learner can cut by hand.
const mostCut = 40

// cuttable reports whether a learner can cut a text between any two of its letters. The text must
// be short, and its letters must not join or be reordered.
func cuttable(text string) bool {
	for _, r := range text {
		if !unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Han, unicode.Common) {
			return false
		}
	}
	return utf8.RuneCountInString(text) <= mostCut
}

// cutID returns an ID that is different for each text, so that one text's cuts are never shown in
// another.
func (v tokensView) cutID() string {
	h := fnv.New64a()
	h.Write([]byte(v.Text))
	return fmt.Sprintf("cut-%x", h.Sum64())
}

// cuts returns the number of cuts that the model makes.
func (v tokensView) cuts() (n int) {
	for _, l := range v.Cuttable {
		if l.Cut {
			n++
		}
	}
	return n
}

// cutLabel describes the position before letter i.
func (v tokensView) cutLabel(w stage.Words, i int) string {
	name := func(l stage.PictureLetter) string {
		if s := l.Text.String(); s != "·" {
			return w.T("learn.tokens.letter", "letter", s)
		}
		return w.T("learn.tokens.space")
	}
	return w.T("learn.tokens.cut", "left", name(v.Cuttable[i-1]), "right", name(v.Cuttable[i]))
}

// sentence states the numbers of characters and tokens.
func (v tokensView) sentence(w stage.Words) stage.Rich {
	return w.Rich(
		"learn.tokens.say", "letters", w.T("learn.tokens.letters", "n", v.Letters),
		"tokens", w.Counted(len(v.Tokens), "token"),
		"n", terms.Decimals(float64(v.Letters)/float64(len(v.Tokens)), 1),
	)
}
