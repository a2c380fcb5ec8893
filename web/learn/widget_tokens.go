package learn

import (
	"context"
	"fmt"
	"unicode/utf8"

	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/stage"
)

func tokensFields() []field { return []field{promptField("prompt", "A text")} }

// tokenCuts shows how a text is cut into tokens.
type tokenCuts struct{ model *infer.Model }

func newTokens(d desk) experiment { return &tokenCuts{d.target} }

func (e *tokenCuts) show(ctx context.Context, in values) (templ.Component, error) {
	run, err := newRun(ctx, e.model, in["prompt"], settingsOf(in))
	if err != nil {
		return nil, err
	}
	st, err := stageTo(ctx, run, infer.KindForward)
	if err != nil {
		return nil, err
	}
	v := tokensView{Letters: utf8.RuneCountInString(in["prompt"]), Loop: loopAt(st), Vocab: e.model.Config().Vocab}
	ids := e.model.Encode(in["prompt"])
	if bos := e.model.Config().BOS; bos >= 0 && len(ids) > 0 && ids[0] == bos {
		ids = ids[1:] // the start mark is no part of the text
	}
	for i, id := range ids {
		t := e.model.Token(id)
		shown := stage.TokenText(t)
		v.Tokens = append(v.Tokens, stage.Token{
			At: i, Text: shown, Small: terms.Count(id),
			Aria: fmt.Sprintf("%s, number %s in the list", shown.String(), terms.Count(id)),
		})
	}
	return tokensHTML(v), nil
}

// tokensView is a text's tokens.
type tokensView struct {
	Tokens  []stage.Token
	Letters int
	Vocab   int
	Loop    string
}

// say counts.
func (v tokensView) say() stage.Rich {
	letters, tokens := terms.CountedAs(v.Letters, "letter", "letters"), terms.Counted(len(v.Tokens), "token")
	return stage.Rich{
		{S: letters + ", " + tokens + ". ", Style: stage.Bold},
		{S: fmt.Sprintf("That’s %s characters a token, spaces and punctuation included.",
			terms.Decimals(float64(v.Letters)/float64(len(v.Tokens)), 1))},
	}
}
