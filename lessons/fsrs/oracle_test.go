package fsrs

import (
	"math"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer/fixture"
)

type oracleGroup struct {
	W                    [21]float64
	Retention            float64
	Maximum              int
	Learning, Relearning []string
	Histories            []struct {
		Start   int64 // milliseconds
		Reviews [][11]float64
	}
}

func oracle(t *testing.T) (groups []oracleGroup) {
	t.Helper()
	var file struct {
		Package, Version string
		Groups           []oracleGroup
	}
	fixture.ReadZipped(t, "../../testdata/fsrs/histories.json.gz", &file)
	if file.Package != "ts-fsrs" || file.Version != "5.4.2" {
		t.Fatalf("the fixture is from %s %s, want ts-fsrs 5.4.2", file.Package, file.Version)
	}
	return file.Groups
}

func steps(t *testing.T, list []string) (out []time.Duration) {
	t.Helper()
	for _, s := range list {
		days := s[len(s)-1] == 'd'
		if days {
			s = s[:len(s)-1] + "h"
		}
		d, err := time.ParseDuration(s)
		if err != nil {
			t.Fatal(err)
		}
		if days {
			d *= 24
		}
		out = append(out, d)
	}
	return out
}

// TestAgreesWithTSFSRS: after every review of 1,000 histories, the card matches ts-fsrs's card.
// Dates, counts and states are equal. Stability and difficulty may differ in the last of eight
// decimals, because exp and pow may differ in their last bit.
// Promise: Flashcards are scheduled exactly as the published scheduler ts-fsrs schedules them.
func TestAgreesWithTSFSRS(t *testing.T) {
	histories, reviews := 0, 0
	for _, g := range oracle(t) {
		p := Params{
			W: g.W, Retention: g.Retention, MaxInterval: g.Maximum, Learning: steps(t, g.Learning),
			Relearning: steps(t, g.Relearning),
		}
		if g.Retention == 0.9 && p.W != Default().W {
			t.Fatalf("the default weights of ts-fsrs are %v, ours are %v", p.W, Default().W)
		}
		for h, history := range g.Histories {
			histories++
			now := time.UnixMilli(history.Start).UTC()
			c := newCard(now)
			for n, want := range history.Reviews {
				reviews++
				now = now.Add(time.Duration(want[0]) * time.Minute)
				r := p.Retrievability(c, now)
				preview := p.Preview(c, now)
				c = p.Next(c, now, Grade(want[1]))
				if preview[Grade(want[1])-1] != c {
					t.Fatalf(
						"history %d, review %d: Preview returned %+v, want the card from Next, %+v", h, n,
						preview[Grade(want[1])-1], c,
					)
				}
				if err := c.check(); err != nil {
					t.Fatalf("history %d, review %d: %v", h, n, err)
				}
				compare(t, h, n, c, now, r, want)
				if t.Failed() {
					return
				}
			}
		}
	}
	if histories != 1000 || reviews < 5000 {
		t.Errorf("compared %d histories with %d reviews, want 1000 with 5000 or more", histories, reviews)
	}
}

func compare(t *testing.T, history, review int, c Card, now time.Time, r float64, want [11]float64) {
	t.Helper()
	for _, x := range []struct {
		what      string
		got, want float64
	}{{"retrievability", r, want[2]}, {"stability", c.Stability, want[3]}, {"difficulty", c.Difficulty, want[4]}} {
		if !(math.Abs(x.got-x.want) <= 2e-8*max(1, x.want)) {
			t.Errorf("history %d, review %d: %s is %.9f, want %.9f", history, review, x.what, x.got, x.want)
		}
	}
	got := [6]float64{
		float64(c.State), float64(c.Step), float64(c.Interval), c.Due.Sub(now).Minutes(), float64(c.Reps),
		float64(c.Lapses),
	}
	if got != [6]float64(want[5:]) {
		t.Errorf(
			"history %d, review %d: state, step, interval, minutes, reps, lapses are %v, want %v", history, review, got,
			want[5:],
		)
	}
}
