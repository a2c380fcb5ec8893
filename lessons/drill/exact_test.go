package drill

import (
	"testing"

	"github.com/tokenbytoken/viz/infer/terms"
)

// TestAnswerPrecision: an answer must be exact either to three decimals (with at least two
// significant digits for a real number below 1) or to a given number of significant digits.
func TestAnswerPrecision(t *testing.T) {
	for _, row := range []struct {
		form  Form
		value float64
		text  string
		want  bool
	}{
		{Real, 0.0024788, "0.0025", true}, // e^−6: rounded to two digits
		{Real, 0.0024788, "0.002", false}, // three decimals, but only one significant digit
		{Real, 12.182494, "12.18", true},  // e^2.5: four digits
		{Real, 12.182494, "12.2", false},  // e^2.5: only three digits
		{Probability, 0.63158, "0.632", true},
		{Probability, 0.63158, "0.63", false},
		{Probability, 0.63158, "63.2%", true},
		{Ratio, 3.14159, "3.14", true},
		{Ratio, 3.14159, "3.1", false},
		{Money, 0.123456, "0.1235", true},
		{Money, 0.123456, "0.123", false},
	} {
		readings, err := Read(row.text, row.form)
		if err != nil {
			t.Fatal(err)
		}
		if got := readings[0].is(row.value, row.form); got != row.want {
			t.Errorf("%s for %v: %v, want %v", row.text, row.value, got, row.want)
		}
	}
}

// TestThousandsSeparator: a comma separates thousands only before groups of
// three digits.
func TestThousandsSeparator(t *testing.T) {
	for text, want := range map[string]float64{"1,234": 1234, "1,2345": 1.2345, "12,34": 12.34, "1,234,567": 1234567} {
		readings, err := Read(text, Count)
		if err != nil || readings[0].Value != want {
			t.Errorf("%s is read as %+v, %v; want %v first", text, readings, err, want)
		}
	}
}

// TestStepsOpenWhenPrerequisitesAreRight: a step opens when all cells that it needs are right,
// rather than merely filled in.
func TestStepsOpenWhenPrerequisitesAreRight(t *testing.T) {
	p, err := New(terms.English, KVBytes, 7, 1)
	if err != nil {
		t.Fatal(err)
	}
	var cells []string // cells of the step that the other steps need
	for _, id := range p.Order() {
		if p.cells[id].step == "position" {
			cells = append(cells, id)
		}
	}
	answers := map[string]string{}
	opened := func() bool {
		for _, s := range p.Score(answers).Steps {
			if s.ID == "cache" {
				return s.Open
			}
		}
		t.Fatal("the step cache is missing")
		return false
	}
	for _, id := range cells {
		answers[id] = "1"
	}
	if len(cells) == 0 || opened() {
		t.Errorf("wrong answers in %v opened the next step", cells)
	}
	for _, id := range cells {
		answers[id] = p.Answer(id)
	}
	if !opened() {
		t.Errorf("right answers in %v did not open the next step", cells)
	}
}
