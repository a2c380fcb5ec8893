// Package fsrs schedules flashcards with FSRS-6 (Free Spaced Repetition
// Scheduler, Ye et al. 2022 and the open-spaced-repetition project, version 6)
// with its default parameters.
//
// It models a memory with two numbers. Stability S is the number of days after which the chance of
// recalling the card has fallen to 90%; difficulty D, from 1 to 10, determines how slowly S grows.
// Between reviews, the chance of recall (the retrievability) falls along a power curve:
//
//	R(t, S) = (1 + f·t/S)^(−w20), with f = 0.9^(−1/w20) − 1, so R(S, S) = 0.9
//
// At a review, the learner gives one of four grades. The grade and R change S and D (the helpers of
// [Params.Next] document the formulas), and the next date is the day on which R will have fallen to
// the desired retention. New and forgotten cards first go through short steps of minutes.
//
// Everything is a pure function of the card, the time and the grade, without a clock, randomness or
// storage. Intervals are not fuzzed, so the same history always gives the same dates. Results are
// rounded to eight decimals wherever the reference implementation ts-fsrs rounds them; a test
// compares 1,000 histories.
//
// Formulas: https://github.com/open-spaced-repetition/awesome-fsrs/wiki/The-Algorithm
package fsrs

import (
	"fmt"
	"time"
)

// Grade describes how well a card was recalled.
type Grade int

// The four grades.
const (
	Again Grade = iota + 1 // not recalled
	Hard                   // recalled with great effort
	Good                   // recalled
	Easy                   // recalled immediately
)

// Grades lists the four grades, from worst to best.
var Grades = [4]Grade{Again, Hard, Good, Easy}

// String returns the grade's name in lower case: "again", "hard", "good", "easy".
func (g Grade) String() string {
	if g.valid() {
		return [...]string{"again", "hard", "good", "easy"}[g-1]
	}
	return fmt.Sprintf("grade %d", int(g))
}

func (g Grade) valid() bool { return g >= Again && g <= Easy }

// ParseGrade parses the names that [Grade.String] returns.
func ParseGrade(text string) (Grade, error) {
	for _, g := range Grades {
		if text == g.String() {
			return g, nil
		}
	}
	return 0, fmt.Errorf("unknown grade %q; want again, hard, good or easy", text)
}

// State is the stage of a card's life.
type State int

// The states.
const (
	New        State = iota // never reviewed
	Learning                // in the first short steps
	Review                  // at intervals of days
	Relearning              // forgotten, and back in short steps
)

// String returns the state's name in lower case.
func (s State) String() string {
	if s < New || s > Relearning {
		return fmt.Sprintf("state %d", int(s))
	}
	return [...]string{"new", "learning", "review", "relearning"}[s]
}

// Card is the scheduler's state of one card. It is a value: a review returns a new Card.
type Card struct {
	Due        time.Time `json:"due"`
	Stability  float64   `json:"stability"`  // days; 0 while new
	Difficulty float64   `json:"difficulty"` // 1 to 10; 0 while new
	Reps       int       `json:"reps"`       // reviews so far
	Lapses     int       `json:"lapses"`     // times forgotten after leaving the first steps
	State      State     `json:"state"`
	Step       int       `json:"step"`     // index of the short step, from 0
	Interval   int       `json:"interval"` // days from the last review to Due; 0 within short steps
	Last       time.Time `json:"last"`     // time of the last review; zero while new
}

// Params holds the parameters of the schedule. Use [Default].
type Params struct {
	W           [21]float64     // the weights w0 to w20
	Retention   float64         // the chance of recall at which a card is due again, above 0 and up to 1
	MaxInterval int             // days
	Learning    []time.Duration // short steps of a new card
	// short steps of a forgotten card; at most one, because more would require limits on w17 and
	// w18
	Relearning []time.Duration
}

// Default returns the parameters of FSRS-6 as published: weights fitted to about 700 million
// reviews, 90% retention, learning steps of 1 and 10 minutes, and a relearning step of 10 minutes.
func Default() Params {
	return Params{
		W: [21]float64{
			0.212, 1.2931, 2.3065, 8.2956, 6.4133, 0.8334, 3.0194, 0.001, 1.8722, 0.1666, 0.796,
			1.4835, 0.0614, 0.2629, 1.6483, 0.6014, 1.8729, 0.5425, 0.0912, 0.0658, 0.1542,
		},
		Retention:   0.9,
		MaxInterval: 36500,
		Learning:    []time.Duration{time.Minute, 10 * time.Minute},
		Relearning:  []time.Duration{10 * time.Minute},
	}
}
