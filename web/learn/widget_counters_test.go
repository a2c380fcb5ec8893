package learn

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/stage"
)

// TestApportionUsesLargestRemainders: the whole numbers add up to the rounded sum. In the first row, 4.6, 3.3
// and 2.1 have the whole parts 4, 3 and 2; the tenth goes to the remainder 0.6. In the fifth, the sum is 401.7,
// which is rounded to 402; of 100.2, 200.9 and 100.6, the remainders 0.9 and 0.6 get one each. In the sixth,
// -0.6 is -1 plus 0.4, the largest remainder. In the seventh, the sum is 444.6, and the remainders are 0.6,
// 0.8 and 0.2.
func TestApportionUsesLargestRemainders(t *testing.T) {
	for _, c := range []struct {
		amounts []float64
		parts   float64
		want    []int
	}{
		{[]float64{0.46, 0.33, 0.21}, 10, []int{5, 3, 2}},
		{[]float64{0.25, 0.25, 0.25, 0.25}, 10, []int{3, 3, 2, 2}}, // equal remainders: the earlier first
		{[]float64{1, 0, 0}, 10, []int{10, 0, 0}},
		{[]float64{0.34, 0.33, 0.33}, 10, []int{4, 3, 3}},
		{[]float64{1.002, 2.009, 1.006}, 100, []int{100, 201, 101}},
		{[]float64{-0.006, 0.003, 0.003}, 100, []int{0, 0, 0}},
		{[]float64{-1.234, 5.678, 0.002}, 100, []int{-123, 568, 0}},
		{[]float64{0.5, 0.25}, 100, []int{50, 25}},
	} {
		if got := apportion(c.amounts, c.parts); !slices.Equal(got, c.want) {
			t.Errorf("%v: got %v, want %v", c.amounts, got, c.want)
		}
	}
}

// TestHeadsCountersWaitForYours: nothing of the head is shown before all ten counters are placed and
// the learner has asked, or has no idea. The weights of block 4, head 5 are 0.02, 0.03, 0.03, 0.23,
// 0.46, 0.16 and 0.07, rounded to hundredths, so the head's counters are 0, 0, 0, 2, 5, 2 and 1.
func TestHeadsCountersWaitForYours(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	spec := s.specOf(lessons.WidgetCounters)
	for _, c := range []struct {
		spread, done string
		shown        bool
		say          string
	}{
		{"0", "no", false, "0 of 10 placed"},
		{"0.0.0.3.4", "no", false, "7 of 10 placed"},
		{"0.0.0.3.4", "yes", false, "7 of 10 placed"}, // not all are placed yet
		{"0.0.0.3.4.0.3", "no", false, "10 of 10 placed"},
		{"0.0.0.3.4.0.3", "yes", true, "7 of your 10 lie where the head’s lie"}, // 2 + 4 + 1
		{"0.0.0.0.20", "yes", true, "5 of your 10"},                             // at most ten count
		{"0", "none", true, "largest heap, 5 of 10, is on ·lived"},
	} {
		d := s.alone(spec, map[string]string{"spread": c.spread, "done": c.done})
		fig := d.Find("figure#" + spec.ID)
		if got := text(fig.Find(".w__sum")); !strings.Contains(got, c.say) {
			t.Errorf("%s, %s: the sentence is %q, want %q", c.spread, c.done, got, c.say)
		}
		var heads []string
		fig.Find("tbody tr").Each(func(_ int, row *goquery.Selection) {
			heads = append(heads, text(row.Find("td").Last().Find("b")))
		})
		want := "[0 0 0 2 5 2 1]"
		if !c.shown {
			want = "[      ]"
		}
		if got := fmt.Sprint(heads); got != want {
			t.Errorf("%s, %s: the head's counters are %s, want %s", c.spread, c.done, got, want)
		}
		if n := fig.Find(`#ten-wizard-show[name="done"]`).Length(); (n == 1) != strings.HasPrefix(c.say, "10 of") {
			t.Errorf("%s, %s: %d buttons show the head's counters", c.spread, c.done, n)
		}
	}
	d := s.alone(spec, map[string]string{"spread": "0.0.1"})
	var values []string
	d.Find("tbody tr").Eq(2).Find("button").Each(func(_ int, b *goquery.Selection) {
		values = append(values, b.AttrOr("value", ""))
	})
	if want := []string{"0.0.0.0.0.0.0", "0.0.2.0.0.0.0"}; !slices.Equal(values, want) {
		t.Errorf("the buttons of one token set %v, want %v", values, want)
	}
}

// TestEqualHeapsAreCalledEqual: if several of the head's heaps are the largest, the sentence names none
// of them alone.
func TestEqualHeapsAreCalledEqual(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	e := &counters{model: s.pages.Model}
	if _, err := e.show(t.Context(), s.specOf(lessons.WidgetCounters).Inputs(terms.English).Defaults()); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		heads []int
		none  bool
		want  string
	}{
		{[]int{0, 4, 4, 2, 0, 0, 0}, false, "3 of your 10 lie where the head’s lie. " +
			"The head’s largest heaps are equal: 4 on each of 2 tokens."},
		{[]int{0, 4, 4, 2, 0, 0, 0}, true, "No guess. " +
			"The head’s largest heaps are equal: 4 of 10 on each of 2 tokens."},
		{[]int{0, 5, 4, 1, 0, 0, 0}, true, "No guess. The head’s largest heap, 5 of 10, is on The."},
	} {
		if got := e.sentence(stage.In(t.Context()), c.none, 3, c.heads).String(); got != c.want {
			t.Errorf("%v: got %q, want %q", c.heads, got, c.want)
		}
	}
}
