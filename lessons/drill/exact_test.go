package drill

import "testing"

// How exact an answer must be: to three places, where a real number below 1 has
// two digits at least, or to so many significant digits.
func TestHowExactAnAnswerMustBe(t *testing.T) {
	for _, row := range []struct {
		form  Form
		value float64
		text  string
		want  bool
	}{
		{Real, 0.0024788, "0.0025", true}, // e^−6: rounded to two digits
		{Real, 0.0024788, "0.002", false}, // three places, but only one digit
		{Real, 12.182494, "12.18", true},  // e^2.5: four digits
		{Real, 12.182494, "12.2", false},  // three
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
