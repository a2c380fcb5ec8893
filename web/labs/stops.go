package labs

import (
	"fmt"

	"github.com/tokenbytoken/viz/infer/lab"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/plots"
	"github.com/tokenbytoken/viz/web/stage"
)

var _ = show("stops", stopsSections, winnerOf, prediction{
	Ask:     "What ends this text first?",
	Choices: stopChoices(),
})

func stopsSections(s *lab.Stops) []section {
	var racers []plots.Racer
	for _, r := range s.Racers {
		racers = append(racers, plots.Racer{Name: racerName(r), Step: r.Step, Sure: r.Sure})
	}
	ends := make([]float64, len(s.Tokens))
	for i, t := range s.Tokens {
		ends[i] = t.EndP
	}
	race := section{
		ID: "race", Title: "The race", Small: fmt.Sprintf("one text, %s", terms.Counted(len(s.Tokens), "token")),
		Caption: "generated tokens", Body: racersView(s),
	}.charted(plots.StopRace(racers, len(s.Tokens)))
	if s.Winner != "" {
		race.Say = say(
			"First comes ", x(terms.StopOf(s.Winner).A+"."),
			" What follows it was written anyway, so that the others could run on.",
		)
	}
	list := []section{race}
	list = append(list, section{
		ID: "end", Title: "How likely an end was", Half: true,
		Caption: "generated token; probability of an end of text, after the temperature",
		Say: say(
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
		Say: say("“", b(
			stage.Marked(s.String).String(),
		), "” begins "+terms.Counted(s.Offset, "byte")+" into token ", b(
			terms.Count(s.First),
		), " and ends in token ", b(terms.Count(s.Last)),
			". "+whose+" Text that might become a stop string is held back until it is sure."),
		Numbers: table(g),
	}
}

func noEndSection(n lab.NoEnd) section {
	s := section{ID: "no-end", Title: "Without an end of text", Say: say(n.Say), Body: beforeAfter(n)}
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
	return s.Winner, "It ends by " + s.Winner + ".", true
}

// stopChoices are the reasons why a text ends.
func stopChoices() (list []choice) {
	for _, s := range terms.Stops() {
		list = append(list, choice{s.Key, s.A})
	}
	return list
}
