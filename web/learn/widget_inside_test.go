package learn

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"github.com/tokenbytoken/viz/lessons"
)

// The scores that one head's table shows are those from which its weights follow: their
// softmax is the column beside them.
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
					"block %s, head %s: row %d has the weight %v, want %.4f as its score gives", at[0], at[1], i,
					weights[i], want,
				)
			}
		}
	}
}

// read is a number as a page writes it; "below 0.0001" and the like count as 0.
func read(t *testing.T, written string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(strings.ReplaceAll(written, "−", "-"), 64)
	if err != nil {
		return 0
	}
	return x
}

// A text's tokens are put together again to the text, and their numbers are the model's.
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
	if got := text(d.Find("[aria-live]")); !strings.HasPrefix(got, "10 letters, "+strconv.Itoa(len(ids))+" tokens") {
		t.Errorf("it says %q, want it to begin with %q", got, "10 letters, "+strconv.Itoa(len(ids))+" tokens")
	}
}

// Each request of the chat finds kept what the ones before it read and wrote, all but the
// last token written, and an edit keeps what stands before the first changed token.
func TestChatCountsColumns(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	e := &chat{s.pages.Model}
	const question, edit = "When do you open tomorrow?", "When do you open on Monday?"
	columns := 0
	for at := 1; at <= 3; at++ {
		v := e.view(question, edit, at)
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
	v := e.view(question, edit, chatEdited)
	if v.Dead != columns-v.Kept || v.Dead == 0 || v.Columns != v.Kept+v.Read {
		t.Errorf(
			"after the edit: %d kept, %d dead of %d, %d read, %d columns; want %d, not 0, %d", v.Kept, v.Dead, columns,
			v.Read, v.Columns, columns-v.Kept, v.Kept+v.Read,
		)
	}
	if same := e.view(question, question, chatEdited); same.Read != 0 {
		t.Errorf("an edit that changes nothing reads %d tokens", same.Read)
	}
	if first := e.view(question, edit, 1); first.Thought == 0 || first.Read+first.Thought+first.Wrote < 70 {
		t.Errorf(
			"the first request has %+v tokens, and the lesson says seventy, want Thought not 0, "+
				"first.Read+first.Thought+first.Wrote at least 70",
			first,
		)
	}
	alone := s.alone(s.specOf(lessons.WidgetChat), map[string]string{"at": "4"})
	if got := text(alone.Find("[aria-live]")); !strings.Contains(got, "died with your edit") {
		t.Errorf("the edit says %q, want it to contain %q", got, "died with your edit")
	}
}
