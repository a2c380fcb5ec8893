package lab

import "github.com/tokenbytoken/viz/infer"

// repeatRun is the length, in tokens, of the runs that count as repetitions if they recur.
const repeatRun = 4

// pairs returns a text's pairs of neighboring tokens.
func pairs(ids []int) [][2]int {
	var list [][2]int
	for i := 1; i < len(ids); i++ {
		list = append(list, [2]int{ids[i-1], ids[i]})
	}
	return list
}

func distinct[T comparable](list []T) int {
	seen := map[T]bool{}
	for _, x := range list {
		seen[x] = true
	}
	return len(seen)
}

// ratio returns a/b, or 0 if b is 0.
func ratio(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// repetition returns the share of a text's runs of repeatRun tokens that have occurred before: 1 −
// distinct runs / runs.
func repetition(ids []int) float64 {
	var runs [][repeatRun]int
	for i := repeatRun; i <= len(ids); i++ {
		runs = append(runs, [repeatRun]int(ids[i-repeatRun:i]))
	}
	return ratio(len(runs)-distinct(runs), len(runs))
}

// measure computes the measures of a text that depend only on its tokens.
func measure(ids []int) TextMeasures {
	list := pairs(ids)
	return TextMeasures{Tokens: len(ids), Distinct2: ratio(distinct(list), len(list)), Repetition: repetition(ids)}
}

// circleTokens is the minimum number of recurring tokens in a circle: "ha ha" is too short. A
// circle has at least two rounds.
const circleTokens = 4

// circleOf finds the loop at the end of a text, and returns its start and its shortest period.
func circleOf(ids []int) (start, period int, found bool) {
	for period = 1; 2*period <= len(ids); period++ {
		same := 0 // number of tokens at the end that equal the token one period earlier
		for i := len(ids) - 1; i >= period && ids[i] == ids[i-period]; i-- {
			same++
		}
		if same >= max(period, circleTokens) {
			return len(ids) - same - period, period, true
		}
	}
	return 0, 0, false
}

// circle returns the circle that circleOf finds, or nil if the text does not loop.
func circle(m *infer.Model, ids []int) *Circle {
	start, period, found := circleOf(ids)
	if !found {
		return nil
	}
	return &Circle{
		Start: start + 1, Period: period, Rounds: float64(len(ids)-start) / float64(period),
		Tokens: tokensOf(m, ids[start:start+period]),
	}
}
