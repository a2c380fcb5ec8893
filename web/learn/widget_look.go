package learn

import (
	"context"
	"slices"
	"strconv"

	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/guess"
	"github.com/tokenbytoken/viz/web/stage"
)

// headLook shows one head of one block: its weights at all tokens of a text and, for one of them, the
// products of its query and every key. At first, that is the last one.
type headLook struct {
	model  *infer.Model
	prompt string
	ids    []int
	cache  *infer.Cache
	inside *infer.Inspection // of the last token
	watch  *infer.Watch      // all weights; nil if the text is too long
	loop   string

	at   int               // the token in the table
	look *infer.Inspection // of that token
}

func newLook(d environment) experiment { return &headLook{model: d.target} }

func (e *headLook) show(ctx context.Context, in terms.Values) (templ.Component, error) {
	if e.inside == nil || e.prompt != in["prompt"] {
		if err := e.read(ctx, in["prompt"]); err != nil {
			return nil, err
		}
	}
	c := e.model.Config()
	block, head := min(in.Int("block"), c.Layers), min(in.Int("head"), c.Heads)
	in.SetInt("block", block)
	in.SetInt("head", head)
	resetForNewText(in, "row")
	row := len(e.ids) - 1
	if at := in.Int("row"); at > 0 {
		row = min(row, at-1)
	}
	in.SetInt("row", row+1)
	if row == len(e.ids)-1 {
		e.at, e.look = row, e.inside
	} else if err := e.rowAt(ctx, row); err != nil {
		return nil, err
	}
	v := e.view(stage.In(ctx), block-1, head-1)
	v.Of = in["of"]
	v.Triangle = e.triangle(stage.In(ctx), block-1, head-1, row)
	var err error
	if v.Added, err = e.added(); err != nil {
		return nil, err
	}
	return lookHTML(v), nil
}

// read runs a text through the model and stores the internal values of the pass at the last
// token. It changes the experiment only once all passes are complete: canceling may interrupt any of
// them.
func (e *headLook) read(ctx context.Context, prompt string) error {
	run, err := newRun(ctx, e.model, prompt, settingsOf(terms.Values{}))
	if err != nil {
		return err // explains what is wrong with the text
	}
	st, err := stageTo(ctx, run, infer.KindForward)
	if err != nil {
		return err
	}
	ids, cache := e.model.Encode(prompt), e.model.NewCache()
	if _, _, err := e.model.Forward(ctx, cache, ids); err != nil {
		return err
	}
	last := len(ids) - 1
	inside, err := e.model.Inspect(ctx, cache, ids[last], last)
	if err != nil {
		return err
	}
	next := headLook{model: e.model, prompt: prompt, ids: ids, cache: cache, inside: inside, loop: loopAt(st)}
	if len(ids) <= triangleTokens {
		if next.watch, err = e.model.Watch(ctx, ids, true); err != nil {
			return err
		}
	}
	*e = next
	return nil
}

// A lookView shows one head.
type lookView struct {
	Block, Head int
	Rows        []lookRow
	Stream      []lookStream
	Loop        string
	Top         lookRow // the position with the largest weight
	Own         bool    // Top is the token that looks
	From        stage.Text
	Row         string // the number of the token that looks, from 1
	Of          string // identifies the text to which Row belongs
	Last        bool   // it is the last token
	Triangle    *triangle
	Added       *lookAdded
}

// A lookRow is one position that the head can attend to.
type lookRow struct {
	Text              stage.Text
	Score, Weight, At string
	Bar               string
	w                 float64
}

// A lookStream is the last token's vector at one point on its way up through the blocks.
type lookStream struct{ Where, Length, Says string }

func (e *headLook) view(w stage.Words, block, head int) lookView {
	v := lookView{
		Block: block + 1, Head: head + 1, Loop: e.loop, From: textAt(w, e.model, e.ids, e.at),
		Row: strconv.Itoa(e.at + 1), Last: e.at == len(e.ids)-1,
	}
	for i, weight := range e.look.Blocks[block].Attention[head] {
		r := lookRow{
			Text: textAt(w, e.model, e.ids, i), At: terms.Count(i), Score: terms.Decimals(e.score(block, head, i), 2),
			Weight: terms.Prob(float64(weight)), Bar: stage.Share(float64(weight)), w: float64(weight),
		}
		v.Rows = append(v.Rows, r)
		if i == 0 || r.w > v.Top.w {
			v.Top, v.Own = r, i == e.at
		}
	}
	for i, b := range e.inside.Blocks {
		v.Stream = append(v.Stream, lookStream{
			w.T("map.height", "n", i+1), terms.Decimals(b.NormOut, 1), stage.TokenText(b.Says[0].Token).String(),
		})
	}
	return v
}

// score returns the product of the head's query and a position's key, scaled by the model's factor.
func (e *headLook) score(block, head, position int) float64 {
	c := e.model.Config()
	key, _ := e.cache.Column(block, position)
	group := head * c.KVHeads / c.Heads
	q := e.look.Blocks[block].Query[head*c.HeadDim : (head+1)*c.HeadDim]
	k := key[group*c.HeadDim : (group+1)*c.HeadDim]
	sum := 0.0
	for i := range q {
		sum += float64(q[i]) * float64(k[i])
	}
	return sum * float64(e.model.ScoreScale())
}

// textAt returns the token at a position of a text; the start mark has its own name.
func textAt(w stage.Words, m *infer.Model, ids []int, i int) stage.Text {
	if i == 0 && ids[0] == m.Config().BOS {
		return stage.Text{{S: w.T("start")}}
	}
	return stage.TokenText(m.Token(ids[i]))
}

// sentence describes the position with the largest weight.
func (v lookView) sentence(w stage.Words) stage.Rich {
	key := "learn.look.say"
	switch {
	case !v.Last && v.Own:
		key = "learn.look.say.row.own"
	case !v.Last:
		key = "learn.look.say.row"
	case v.Own:
		key = "learn.look.say.own"
	}
	top, from := stage.Span{Token: v.Top.Text, Style: stage.Gen}, stage.Span{Token: v.From, Style: stage.Given}
	return w.Rich(key, "block", v.Block, "head", v.Head, "token", top, "weight", v.Top.Weight, "from", from)
}

// answer implements [judge]. It counts the heads whose largest weight is on the word before the
// last.
func (e *headLook) answer(w stage.Words, _ string) (key, say string, ok bool) {
	at, n, all := len(e.ids)-2, 0, 0
	if at < 1 { // only the start mark is before the last token
		return "", "", false
	}
	for _, b := range e.inside.Blocks {
		for _, weights := range b.Attention {
			all++
			if weights[at] == slices.Max(weights) {
				n++
			}
		}
	}
	key = "zero"
	if n > 0 {
		key = guess.Among(float64(n)/float64(all), []float64{0.25, 0.75}, "few", "half", "all")
	}
	return key, w.T("learn.ask.heads.say", "n", n, "all", all), true
}
