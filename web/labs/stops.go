package labs

import (
	"fmt"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/lab"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/plots"
	"github.com/tokenbytoken/viz/web/guess"
	"github.com/tokenbytoken/viz/web/stage"
)

var _ = drawAhead(show("stops", stopsSections, winnerOf, guess.Question{
	Ask:     "labs.stops.ask",
	Choices: stopChoices(),
}), "stops", stopsAhead)

// stopsAhead returns the race with the guessed lanes marked. Before a run, the race shows only the
// positions of the limits. The order of the lanes never changes.
func stopsAhead(w stage.Words, m *infer.Model, v terms.Values, guess string, result any) *section {
	racers, written, err := lab.AheadOfStops(m, v)
	if err != nil {
		return nil
	}
	s := section{ID: "race", Lead: true, Caption: w.T("labs.stops.race.caption")}
	ran, _ := result.(*lab.Stops)
	if ran != nil && len(ran.Tokens) > 0 {
		written, s.Say = len(ran.Tokens), winnerText(w, ran)
		for i, r := range racers {
			for _, x := range ran.Racers {
				if x.Kind == r.Kind && x.String == r.String {
					racers[i].Step = x.Step
				}
			}
		}
	} else {
		ran = nil
		s.Say = w.Rich("labs.stops.race.guess")
	}
	key, _ := splitGuess(guess)
	var lanes, short []plots.Racer
	for _, r := range racers {
		lane := plots.Racer{
			Name: racerName(w, r), Step: r.Step, Sure: r.Sure, Open: ran == nil, You: string(r.Kind) == key,
		}
		lanes = append(lanes, lane)
		lane.Name = racerShort(w, r)
		short = append(short, lane)
	}
	s = s.charted(plots.StopRace(w.Language, lanes, written, false)).
		onPhones(plots.StopRace(w.Language, short, written, true))
	return &s
}

// racerShort returns a condition's short name, for narrow spaces.
func racerShort(w stage.Words, r lab.Racer) string {
	switch r.Kind {
	case "stop_string":
		return w.T("labs.quoted", "text", stage.Marked(r.String).String())
	case "context":
		return w.T("labs.stops.window", "n", r.Limit)
	}
	return racerName(w, r)
}

// winnerText names the condition that fired first. It returns nil if no condition fired.
func winnerText(w stage.Words, s *lab.Stops) stage.Rich {
	if s.Winner == "" {
		return nil
	}
	return w.Rich("labs.stops.winner", "stop", w.Stop(s.Winner).A, "x", accent)
}

func stopsSections(w stage.Words, s *lab.Stops) []section {
	ends := make([]float64, len(s.Tokens))
	for i, t := range s.Tokens {
		ends[i] = t.EndP
	}
	list := []section{{
		ID: "each", Title: w.T("labs.stops.each"), Small: w.T("labs.stops.each.small", "n", len(s.Tokens)),
		Body: racersView(s),
	}}
	list = append(list, section{
		ID: "end", Title: w.T("labs.stops.end"), Half: true, Caption: w.T("labs.stops.end.caption"),
		Say: w.Rich("labs.stops.end.say"),
	}.charted(plots.EndChances(w.Language, ends)))
	if s.Straddle != nil {
		list = append(list, straddleSection(w, s.Straddle))
	}
	if s.NoEnd.Tokens > 0 {
		list = append(list, noEndSection(w, s.NoEnd))
	}
	return list
}

func racerName(w stage.Words, r lab.Racer) string {
	stop := w.Stop(string(r.Kind)).Name
	switch r.Kind {
	case "stop_string":
		return w.T("labs.stops.name.string", "stop", stop, "string", stage.Marked(r.String).String())
	case "max_tokens":
		return w.T("labs.stops.name.limit", "stop", stop, "n", r.Limit)
	case "context":
		return w.T("labs.stops.name.context", "stop", stop, "n", r.Limit)
	}
	return stop
}

func straddleSection(w stage.Words, s *lab.Straddle) section {
	key := "labs.stops.straddle.given"
	if !s.Given {
		key = "labs.stops.straddle.cut"
	}
	g := newGrid(w, "labs.stops.straddle.grid.", "token", "text", "released", "held", "matched", "")
	for i, t := range s.Steps {
		stop := ""
		if t.Stop != "" {
			stop, g.Now = w.T("labs.stops.straddle.here"), i+1
		}
		g.Rows = append(
			g.Rows,
			[]string{
				terms.Count(t.Step), tokenName(t.Token), stage.Marked(t.Text).String(), stage.Marked(t.Held).String(),
				terms.Count(t.Matched), stop,
			},
		)
	}
	return section{
		ID: "straddle", Title: w.T("labs.stops.straddle"), Half: true,
		Say: w.Rich(key, "string", stage.Marked(s.String).String(), "n", s.Offset, "first", terms.Count(s.First),
			"last", terms.Count(s.Last)),
		Numbers: table(g),
	}
}

func noEndSection(w stage.Words, n lab.NoEnd) section {
	s := section{ID: "no-end", Title: w.T("labs.stops.no_end"), Body: beforeAfter(n)}
	s.Say = stage.Rich{{S: n.Say.In(w.Language)}}
	if n.Circle != nil {
		s.Say = w.Rich("labs.stops.no_end.circle", "say", s.Say, "n", fmt.Sprint(n.Circle.Period))
	}
	return s
}

func winnerOf(w stage.Words, s *lab.Stops) (string, string, bool) {
	if s.Winner == "" {
		return "", "", false
	}
	for _, x := range s.Racers {
		if string(x.Kind) == s.Winner {
			return s.Winner, w.T("labs.stops.found", "stop", racerName(w, x), "n", x.Step), true
		}
	}
	return s.Winner, w.T("labs.stops.found.kind", "stop", terms.Capital(w.Stop(s.Winner).A)), true
}

// stopChoices returns the reasons why a text ends.
func stopChoices() (list []guess.Choice) {
	for _, s := range terms.Stops() {
		list = append(list, guess.Choice{Key: s.Key, Text: "stop." + s.Key + ".a"})
	}
	return list
}
