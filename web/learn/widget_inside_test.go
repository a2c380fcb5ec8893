package learn

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/infer/why"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/stage"
)

// TestLookScoresYieldTheWeights: the softmax of the scores in one head's table equals the
// weights in the column next to them.
func TestLookScoresYieldTheWeights(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, at := range [][2]string{{"4", "5"}, {"1", "1"}, {"6", "3"}} {
		d := s.alone(s.specOf(lessons.WidgetLook), map[string]string{
			"prompt": "The wizard lived in a", "block": at[0], "head": at[1],
		})
		var scores, weights []float64
		sum := 0.0
		d.Find(".w-tab--look tbody tr").Each(func(_ int, row *goquery.Selection) {
			score := read(t, text(row.Find("td").First()))
			scores, sum = append(scores, score), sum+math.Exp(score)
			weights = append(weights, read(t, strings.TrimSuffix(text(row.Find("td").Last()), "%")))
		})
		if len(scores) != 7 {
			t.Fatalf("block %s, head %s: %d rows, want the start mark and six tokens", at[0], at[1], len(scores))
		}
		for i, score := range scores {
			if want := math.Exp(score) / sum; math.Abs(weights[i]-want) > 0.01 {
				t.Errorf(
					"block %s, head %s: row %d has the weight %v, want %.4f according to its score", at[0], at[1], i,
					weights[i], want,
				)
			}
		}
	}
}

// TestTriangleShowsEveryRow: the triangle has a row for each token. A press on it shows the table of
// that token, with the weights of block 4, head 5 that the engine computes for a text that ends there.
// The wall covers everything after the token.
func TestTriangleShowsEveryRow(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	spec, m := s.spec("look-wizard"), s.pages.Model
	ids := m.Encode("The wizard lived in a")
	for _, row := range []int{1, 4, 6} {
		inputs := map[string]string{"block": "4", "head": "5", "row": strconv.Itoa(row + 1)}
		d := s.alone(spec, inputs)
		cache := m.NewCache()
		if _, _, err := m.Forward(t.Context(), cache, ids[:row+1]); err != nil {
			t.Fatal(err)
		}
		inside, err := m.Inspect(t.Context(), cache, ids[row], row)
		if err != nil {
			t.Fatal(err)
		}
		weights := inside.Blocks[3].Attention[4]
		table := d.Find(".w-tab--look tbody tr")
		button := d.Find(".w-tri button").Eq(row)
		if table.Length() != row+1 || button.AttrOr("aria-pressed", "") != "true" {
			t.Fatalf("row %d: the table has %d rows, want %d, and the pressed button", row, table.Length(), row+1)
		}
		for i, weight := range weights {
			if got, want := text(table.Eq(i).Find("td").Last()), terms.Prob(float64(weight)); got != want {
				t.Errorf("row %d: token %d has the weight %s in the table, want %s", row, i, got, want)
			}
			got, want := read(t, button.Find(".w-bar__p").Eq(i).AttrOr("height", "")), 20*float64(weight)
			if math.Abs(got-want) > 0.01 {
				t.Errorf("row %d: the bar of token %d has the height %v, want %v", row, i, got, want)
			}
		}
		wall := button.Find(".w-tri__wall")
		if x, want := wall.AttrOr("x", ""), strconv.Itoa(20*(row+1)); x != want {
			t.Errorf("row %d: the wall begins at %s, want %s", row, x, want)
		}
		largest := terms.Prob(float64(slices.Max(weights)))
		if label := button.AttrOr("aria-label", ""); !strings.Contains(label, largest) {
			t.Errorf("row %d is called %q, want its largest weight in it", row, label)
		}
	}
	d := s.alone(spec, map[string]string{"row": "512"})
	if got := text(d.Find(`.w-tri [aria-pressed="true"] .tk`)); got != "·a" {
		t.Errorf("a row beyond the end: got %q, want the last token", got)
	}
}

// TestAddedAmountsMatchTheExplanation: the amounts that the look experiment shows for ·Paris are the
// sums of the terms that package why lists, and they add up to the score.
func TestAddedAmountsMatchTheExplanation(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	study, err := why.New(t.Context(), s.pages.Model, s.pages.Model.Encode("The capital of France is"))
	if err != nil {
		t.Fatal(err)
	}
	a, err := study.Ask(t.Context(), why.Question{Token: -1, Over: -1, Says: 1})
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string]float64{}
	for _, c := range a.Base.Parts {
		sums[string(c.Part.Kind)] += c.Z
	}
	table := s.alone(s.spec("look-paris"), nil).Find(".w-tab--added")
	want := []string{
		terms.Decimals(sums["head"], 2), terms.Decimals(sums["feed_forward"], 2),
		terms.Decimals(a.Base.Z-sums["head"]-sums["feed_forward"], 2), terms.Decimals(a.Base.Z, 2),
	}
	var got []string
	table.Find("td").Each(func(_ int, cell *goquery.Selection) { got = append(got, text(cell)) })
	if !slices.Equal(got, want) || !strings.Contains(text(table.Find("thead")), "·Paris") {
		t.Errorf("got %v for %q, want %v for ·Paris", got, text(table.Find("thead")), want)
	}
}

// read parses a number as a page shows it. "below 0.0001" and the like count as 0.
func read(t *testing.T, written string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(strings.ReplaceAll(written, "−", "-"), 64)
	if err != nil {
		return 0
	}
	return x
}

// TestTokensSpellTheText: the tokens on the page, joined together, spell the text, and their IDs
// match the model's.
func TestTokensSpellTheText(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	d := s.alone(s.specOf(lessons.WidgetTokens), map[string]string{"prompt": "un happily"})
	ids := s.pages.Model.Encode("un happily")[1:]
	var numbers []string
	var back strings.Builder
	d.Find(".w-cuts .tok").Each(func(_ int, tok *goquery.Selection) {
		numbers = append(numbers, text(tok.Find("small")))
		back.WriteString(strings.ReplaceAll(text(tok.Children().First()), "·", " "))
	})
	if len(numbers) != len(ids) || back.String() != "un happily" {
		t.Errorf("%q with the numbers %v, want %d tokens", back.String(), numbers, len(ids))
	}
	want := "10 characters, " + strconv.Itoa(len(ids)) + " tokens" // 9 letters and a space
	if got := text(d.Find("[aria-live]")); !strings.HasPrefix(got, want) {
		t.Errorf("the sentence is %q, want it to begin with %q", got, want)
	}
}

// TestLearnerCutsBeforeTheModel: the learner cuts the lesson's sentence first, between any two
// letters, without seeing the model's tokens. The model's cuts are only where tokens begin: after
// The (3 letters), ·w (2), izard (5), ·lived (6) and ·in (3).
func TestLearnerCutsBeforeTheModel(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	spec := s.specOf(lessons.WidgetTokens)
	body := s.Get(spec.Lesson.Href()).Find("#" + spec.ID + "-body")
	places := body.Find(".w-cut input[type=checkbox]")
	if n := places.Length(); n != len("The wizard lived in a")-1 {
		t.Errorf("got %d places for a cut, want 20", n)
	}
	var model []int
	places.Each(func(i int, place *goquery.Selection) {
		if _, ok := place.Attr("data-model"); ok {
			model = append(model, i+1)
		}
		if form, ok := place.Attr("form"); !ok || form != "" {
			t.Errorf("place %d belongs to the form %q, want none: cuts are not sent", i+1, form)
		}
	})
	if want := []int{3, 5, 10, 16, 19}; !slices.Equal(model, want) {
		t.Errorf("the model cuts after %v letters, want %v", model, want)
	}
	if label, _ := places.Eq(2).Attr("aria-label"); label != "Cut between “e” and a space" {
		t.Errorf("the third place is called %q, want %q", label, "Cut between “e” and a space")
	}
	fold := body.Find("details:not([open])")
	if fold.Find(".w-cuts .tok").Length() != 6 || body.Find(".tok").Length() != 6 {
		t.Errorf("got %d pieces in the closed fold and %d in all, want 6 and 6",
			fold.Find(".w-cuts .tok").Length(), body.Find(".tok").Length())
	}
	page := s.Get(spec.Lesson.Href())
	page.Find("#" + spec.ID + "-body .w-cuts .tok").Each(func(_ int, tok *goquery.Selection) {
		pos := tok.AttrOr("data-pos", "")
		column := page.Find(fmt.Sprintf(`[data-picture] .map__toks [data-pos="%s"] b`, pos)).First()
		if got, want := column.Text(), tok.Children().First().Text(); got != want {
			t.Errorf("position %s is %q in the picture, want %q as in the experiment", pos, got, want)
		}
	})
	if got := text(fold.Find(".w-cuts__found")); got != "The model makes 5 cuts." {
		t.Errorf("the fold begins with %q, want %q", got, "The model makes 5 cuts.")
	}
}

// TestTextsThatAreNotCutByHand: if a text is long, or its letters join or run from right to left,
// the page shows only the model's cuts.
func TestTextsThatAreNotCutByHand(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"don't": true, "привет 12": true, "中文": true, "": true, strings.Repeat("a", 40): true,
		strings.Repeat("a", 41): false, "مرحبا": false, "שלום": false, "e\u0301": false,
	} {
		if got := cuttable(text); got != want {
			t.Errorf("cuttable(%q) = %t, want %t", text, got, want)
		}
	}
}

// TestChatCountsColumns: each request of the chat reuses the columns of the tokens that earlier
// requests read and generated, except for the last generated token. After an edit, the columns
// before the first changed token are still valid.
func TestChatCountsColumns(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	e := &chat{model: s.pages.Model}
	const question, edit = "When do you open tomorrow?", "When do you open on Monday?"
	columns := 0
	for at := 1; at <= 3; at++ {
		v := e.view(stage.English, question, edit, at)
		if v.Kept != columns {
			t.Errorf("request %d finds %d columns kept, want %d", at, v.Kept, columns)
		}
		row := 0
		for _, turn := range v.Turns {
			row += len(turn.Chips)
		}
		if all := v.Kept + v.Read + v.Thought + v.Wrote; all != row || v.Columns != all-1 {
			t.Errorf(
				"request %d: %d tokens in the row, %d counted, %d columns; want %d, %d", at, row, all, v.Columns, row,
				all-1,
			)
		}
		if want := 0.1*float64(v.Kept) + float64(v.Read) + 5*float64(v.Thought+v.Wrote); v.points != want {
			t.Errorf("request %d costs %v points, want %v", at, v.points, want)
		}
		columns = v.Columns
	}
	v := e.view(stage.English, question, edit, lessons.ChatEdited)
	if v.Dead != columns-v.Kept || v.Dead == 0 || v.Columns != v.Kept+v.Read {
		t.Errorf(
			"after the edit: %d kept, %d dead of %d, %d read, %d columns; want %d, not 0, %d", v.Kept, v.Dead, columns,
			v.Read, v.Columns, columns-v.Kept, v.Kept+v.Read,
		)
	}
	if same := e.view(stage.English, question, question, lessons.ChatEdited); same.Read != 0 {
		t.Errorf("an edit that changes nothing reads %d tokens", same.Read)
	}
	first := e.view(stage.English, question, edit, 1)
	page := s.Get("/learn/anatomy-of-a-chat")
	title := fmt.Sprintf("Why are %d tokens on the bill?", first.Read+first.Thought+first.Wrote)
	if got := text(page.Find("h1")); got != title {
		t.Errorf("the lesson asks %q, want %q", got, title)
	}
	counts := fmt.Sprintf(
		"%d read, %d of hidden thinking, %d to call a tool", first.Read, first.Thought, first.Wrote,
	)
	if got := text(page.Find("main")); !strings.Contains(got, counts) {
		t.Errorf("the lesson does not say %q", counts)
	}
	alone := s.alone(s.specOf(lessons.WidgetChat), map[string]string{"at": "4"})
	if got := text(alone.Find("[aria-live]")); !strings.Contains(got, "died with your edit") {
		t.Errorf("the message about the edit is %q, want it to contain %q", got, "died with your edit")
	}
}
