package labs

import (
	"fmt"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/lab"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/plots"
	"github.com/tokenbytoken/viz/web/stage"
)

var _ = drawAhead(show("stops", stopsSections, winnerOf, prediction{
	Ask:     "What ends this text first?",
	Choices: stopChoices(),
}), "stops", stopsAhead)

// stopsAhead returns the race with the guessed lanes marked. Before a run, the race shows only the
// positions of the limits. The order of the lanes never changes.
func stopsAhead(m *infer.Model, v terms.Values, guess string, result any) *section {
	racers, written, err := lab.AheadOfStops(m, v)
	if err != nil {
		return nil
	}
	s := section{ID: "race", Lead: true, Caption: "generated tokens"}
	ran, _ := result.(*lab.Stops)
	if ran != nil && len(ran.Tokens) > 0 {
		written, s.Say = len(ran.Tokens), winnerText(ran)
		for i, r := range racers {
			for _, x := range ran.Racers {
				if x.Kind == r.Kind && x.String == r.String {
					racers[i].Step = x.Step
				}
			}
		}
	} else {
		ran = nil
		s.Say = spans(b("First your guess:"), " the two limits are known before a word is written. When the others "+
			"come, only the text can tell. Wrong guesses teach best.")
	}
	key, _ := splitGuess(guess)
	var lanes, short []plots.Racer
	for _, r := range racers {
		lane := plots.Racer{
			Name: racerName(r), Step: r.Step, Sure: r.Sure, Open: ran == nil, You: string(r.Kind) == key,
		}
		lanes = append(lanes, lane)
		lane.Name = racerShort(r)
		short = append(short, lane)
	}
	s = s.charted(plots.StopRace(lanes, written, false)).onPhones(plots.StopRace(short, written, true))
	return &s
}

// racerShort returns a condition's name for narrow spaces.
func racerShort(r lab.Racer) string {
	switch r.Kind {
	case "stop_string":
		return "“" + stage.Marked(r.String).String() + "”"
	case "context":
		return "window of " + terms.Count(r.Limit)
	}
	return racerName(r)
}

// winnerText names the condition that fired first. It returns nil if no condition fired.
func winnerText(s *lab.Stops) []span {
	if s.Winner == "" {
		return nil
	}
	return spans("First comes ", x(terms.StopOf(s.Winner).A+"."),
		" What follows it was written anyway, so that the others could run on.")
}

func stopsSections(s *lab.Stops) []section {
	ends := make([]float64, len(s.Tokens))
	for i, t := range s.Tokens {
		ends[i] = t.EndP
	}
	list := []section{{
		ID: "each", Title: "When each came", Small: fmt.Sprintf("one text, %s", terms.Counted(len(s.Tokens), "token")),
		Body: racersView(s),
	}}
	list = append(list, section{
		ID: "end", Title: "How likely an end was", Half: true,
		Caption: "generated token; probability of an end of text, after the temperature",
		Say: spans(
			"An end of text is a token like any other: it has a probability at every step, and the filters may cut it.",
		),
	}.charted(plots.EndChances(ends)))
	if s.Straddle != nil {
		list = append(list, straddleSection(s.Straddle))
	}
	if s.NoEnd.Tokens > 0 {
		list = append(list, noEndSection(s.NoEnd))
	}
	return list
}

func racerName(r lab.Racer) string {
	switch r.Kind {
	case "stop_string":
		return terms.StopOf(r.Kind).Name + " " + stage.Marked(r.String).String()
	case "max_tokens":
		return terms.StopOf(r.Kind).Name + " " + terms.Count(r.Limit)
	case "context":
		return terms.StopOf(r.Kind).Name + " of " + terms.Count(r.Limit)
	}
	return terms.StopOf(r.Kind).Name
}

func straddleSection(s *lab.Straddle) section {
	whose := "It is one of yours."
	if !s.Given {
		whose = "None of yours did so here, so this one was cut from the text itself."
	}
	g := grid{
		Caption: "The tokens around it", Head: []string{"token", "text", "released", "held back", "bytes matched", ""},
	}
	for i, t := range s.Steps {
		stop := ""
		if t.Stop != "" {
			stop, g.Now = "stops here", i+1
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
		ID: "straddle", Title: "A stop string across tokens", Half: true,
		Say: spans("“", b(
			stage.Marked(s.String).String(),
		), "” begins "+terms.Counted(s.Offset, "byte")+" into token ", b(
			terms.Count(s.First),
		), " and ends in token ", b(terms.Count(s.Last)),
			". "+whose+" Text that might become a stop string is held back until it is sure."),
		Numbers: table(g),
	}
}

func noEndSection(n lab.NoEnd) section {
	s := section{ID: "no-end", Title: "Without an end of text", Say: spans(n.Say), Body: beforeAfter(n)}
	if n.Circle != nil {
		s.Say = append(s.Say, span{S: fmt.Sprintf(" The rest goes round in %d tokens.", n.Circle.Period)})
	}
	return s
}

func winnerOf(s *lab.Stops) (string, string, bool) {
	if s.Winner == "" {
		return "", "", false
	}
	for _, x := range s.Racers {
		if string(x.Kind) == s.Winner {
			return s.Winner, fmt.Sprintf("First comes %s, at token %s.", racerName(x), terms.Count(x.Step)), true
		}
	}
	return s.Winner, terms.Capital(terms.StopOf(s.Winner).A) + " ends it.", true
}

// stopChoices returns the reasons why a text ends.
func stopChoices() (list []choice) {
	for _, s := range terms.Stops() {
		list = append(list, choice{s.Key, s.A})
	}
	return list
}
