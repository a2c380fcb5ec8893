package learn

import (
	"context"
	"errors"
	"maps"
	"strings"

	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/fault"
	"github.com/tokenbytoken/viz/infer/speculation"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/stage"
)

// A pictureState is one state of a lesson's picture, as the lesson's page shows it.
type pictureState struct {
	lessons.Picture
	First bool
	Whose templ.Component
	Drawn templ.Component
}

// pictureOf lays out the states of a lesson's picture.
func (p *Pages) pictureOf(w stage.Words, l *lessons.Lesson, own *ownSentence) (list []pictureState) {
	all := l.Pictures()
	for i, pic := range all {
		v := pictureState{Picture: pic, First: i == 0, Whose: own.whose(pic)}
		if v.Name == "" {
			v.Name = w.T("pic.state." + string(pic.Kind))
		}
		draw := func(ctx context.Context) (html string, err error) {
			err = fault.Do(p.Log, "a picture", func() (err error) {
				html, err = newArtist(p.environment(shell.Numbers), l.Sentence).render(ctx, pic)
				return err
			})
			return html, err
		}
		v.Drawn = deferred(func(ctx context.Context) templ.Component {
			if own.Text != "" {
				if x := own.picture(ctx, pic); x.Why == "" {
					return drawn(w, x.HTML, x.Err)
				}
			}
			html, err := p.pictures.get(ctx, l.Slug+"/"+pic.ID+"/"+w.Tag, draw)
			return drawn(w, html, err)
		})
		list = append(list, v)
	}
	return list
}

// drawn returns a drawn state or, if there is an error, what went wrong.
func drawn(w stage.Words, html string, err error) templ.Component {
	if err != nil {
		return pictureTrouble(troubleOf(err).In(w.Language))
	}
	return templ.Raw(html)
}

// An artist draws the states of a lesson's picture.
type artist struct {
	environment
	sentence string
	strict   bool // refuse a state whose claim is not true of the sentence
	drawn    int  // the token of the last draw, or -1 if it ended the text
}

func newArtist(d environment, sentence string) *artist {
	return &artist{environment: d, sentence: sentence, drawn: -1}
}

// errPoint is the error of a strict artist for a state whose claim is not true of the sentence.
var errPoint = errors.New("the picture's claim is not true of this sentence")

// render runs the model up to a state of the picture and renders that state.
func (a *artist) render(ctx context.Context, pic lessons.Picture) (string, error) {
	v, err := a.picture(ctx, pic)
	if err != nil {
		return "", err
	}
	v.Map.ID = "map-" + pic.ID
	var b strings.Builder
	err = stage.In(ctx).PictureHTML(v).Render(ctx, &b)
	return b.String(), err
}

// picture computes the view model of one state of the picture.
func (a *artist) picture(ctx context.Context, pic lessons.Picture) (v stage.Picture, err error) {
	w, in := stage.In(ctx), terms.Values{}
	maps.Copy(in, pic.Params)
	if pic.Kind == lessons.PictureGuesses {
		return a.guesses(ctx, pic, in)
	}
	s, err := pictureRun(ctx, a.environment, a.sentence, pic.Kind, in)
	if e := new(terms.Refusal); a.strict && errors.As(err, &e) && e.Code == session.CodeStopped {
		return v, errPoint // the state shows one more token, but the text has ended
	}
	if err != nil {
		return v, err
	}
	if a.strict && !a.shows(pic, in, s) {
		return v, errPoint
	}
	switch pic.Kind {
	case lessons.PictureText, lessons.PictureTokens:
		return w.PictureText(s, pic.Kind == lessons.PictureTokens), nil
	case lessons.PictureColumns:
		return w.PictureColumns(s), nil
	case lessons.PictureAttention:
		return w.PictureAttention(s, in.Int("block"), in.Int("head")), nil
	case lessons.PictureStream:
		return w.PictureStream(s), nil
	case lessons.PictureScores:
		return w.PictureScores(s), nil
	case lessons.PictureShares:
		return w.PictureShares(s), nil
	case lessons.PictureCut:
		return w.PictureCut(s), nil
	case lessons.PictureStrip, lessons.PictureDraw:
		return w.PictureStrip(s, pic.Kind == lessons.PictureDraw), nil
	case lessons.PictureCache:
		return w.PictureCache(s), nil
	}
	to, err := pictureRun(ctx, a.environment, in["to"], pic.Kind, in)
	return w.PictureEdit(s, to), err
}

// pictureStages maps each kind of picture to the last stage that the model runs for it.
var pictureStages = map[lessons.PictureKind]infer.Kind{
	lessons.PictureScores: infer.KindLogits, lessons.PictureShares: infer.KindSoftmax,
	lessons.PictureCut: infer.KindFilter, lessons.PictureStrip: infer.KindFilter,
	lessons.PictureDraw: infer.KindAppend, lessons.PictureCache: infer.KindForward,
	lessons.PictureEdit: infer.KindSoftmax,
}

// pictureRun runs the model on a sentence up to the stage that a picture of the given kind shows.
func pictureRun(
	ctx context.Context, d environment, sentence string, kind lessons.PictureKind, in terms.Values,
) (*session.State, error) {
	run, err := newRun(ctx, d.target, sentence, settingsOf(in))
	if err != nil {
		return nil, err
	}
	if kind == lessons.PictureAttention || kind == lessons.PictureStream {
		if _, err := run.Apply(ctx, session.SetLook{On: true}); err != nil {
			return nil, err
		}
	}
	if kind == lessons.PictureCache {
		if _, err := writeTo(ctx, run, 1); err != nil {
			return nil, err
		}
		if _, err := run.Apply(ctx, session.StepStage{}); err != nil {
			return nil, err
		}
		return run.State(), nil
	}
	to := pictureStages[kind]
	if to == 0 {
		to = infer.KindForward
	}
	return stageTo(ctx, run, to)
}

// guesses returns a picture of the first round of speculative decoding after the sentence.
func (a *artist) guesses(ctx context.Context, pic lessons.Picture, in terms.Values) (v stage.Picture, err error) {
	s, err := pictureRun(ctx, a.environment, a.sentence, lessons.PictureGuesses, in)
	if err != nil {
		return v, err
	}
	e := &speculate{environment: a.environment}
	if err := e.pair(ctx); err != nil {
		return v, err
	}
	gamma := 3
	if _, ok := in["gamma"]; ok {
		gamma = in.Int("gamma")
	}
	if e.spec, err = speculation.New(a.target, e.small, a.sentence, settingsOf(in), gamma); err != nil {
		return v, err
	}
	if err := e.runTo(ctx, 1); err != nil {
		return v, err
	}
	if len(e.rounds) == 0 {
		return v, terms.Refuse(terms.CodeModel, "learn.picture.full")
	}
	list := guessesOf(e.rounds[0])
	if a.strict && !guessed(pic.Needs, list, gamma) {
		return v, errPoint
	}
	return stage.In(ctx).PictureGuesses(s, list), nil
}

// guessesOf returns a round's guesses with their verdicts, and the target's own token.
func guessesOf(round []speculation.Stage) (list []stage.PictureGuess) {
	judged := 0
	for _, did := range round {
		switch s := did.(type) {
		case speculation.Propose:
			for _, g := range s.Drafted {
				list = append(list, stage.PictureGuess{Token: g.Chosen.Token})
			}
		case speculation.Accept:
			list[judged].Chance, list[judged].Accepted, list[judged].Judged = s.Probability, s.Accepted, true
			judged++
		case speculation.Correct:
			list = append(list, stage.PictureGuess{Token: s.Drawn.Chosen.Token, Own: true})
		case speculation.Bonus:
			list = append(list, stage.PictureGuess{Token: s.Drawn.Chosen.Token, Own: true})
		}
	}
	return list
}
