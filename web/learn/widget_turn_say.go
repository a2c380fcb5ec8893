package learn

import (
	"fmt"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/view"
)

// stageSay tells what one stage has done.
func stageSay(st *session.State, kind infer.Kind) view.Rich {
	bold := func(s string) view.Span { return view.Span{S: s, Style: view.Bold} }
	name := bold(fmt.Sprintf("%d %s. ", kind, railNames[kind-1]))
	switch s := st.StageOf(kind, turnRows).(type) {
	case infer.Forward:
		blocks := counted(st.Model.Config().Layers, "block")
		if s.Prefill {
			return view.Rich{name, {S: fmt.Sprintf("The %s of the prompt go through all %s, together.", counted(len(s.Tokens), "token"), blocks)}}
		}
		return view.Rich{
			name,
			{S: "One token, "},
			{Token: view.TokenText(s.Tokens[0]), Style: view.Gen},
			{S: fmt.Sprintf(", goes through all %s. The %d before it are in the cache.", blocks, s.Positions-1)},
		}
	case infer.Logits:
		top := s.Rows.Rows[0]
		return view.Rich{
			name,
			{S: "Each of the " + counted(s.Vocab, "token") + " gets a score. The highest goes to "},
			{Token: view.TokenText(top.Token), Style: view.Given},
			{S: "."},
		}
	case infer.Softmax:
		return softmaxSay(name, s)
	case infer.Filter:
		return view.Rich{name, {S: fmt.Sprintf("%s of %s tokens stay, with %s of the probability. They are scaled up to 1.",
			view.Count(s.Kept), view.Count(s.Kept+s.Cut), view.Prob(s.Mass))}}
	case infer.Sample:
		chosen := view.Span{Token: view.TokenText(s.Chosen.Token), Style: view.Pick}
		if s.Greedy {
			return view.Rich{name, {S: "No draw: greedy takes the most probable token, "}, chosen, {S: "."}}
		}
		return view.Rich{name, {S: fmt.Sprintf("u = %s falls between %s and %s, on ", view.Prob(s.U), view.Prob(s.From), view.Prob(s.To))}, chosen, {S: "."}}
	case infer.Append:
		return view.Rich{name, {Token: view.TokenText(s.Token), Style: view.Gen}, {S: " joins the text" + stopSay(s.Stop)}}
	case infer.CacheGrowth:
		return view.Rich{name, {S: fmt.Sprintf("The pass leaves keys and values of %s more, %s now. ", counted(s.Grew, "position"), view.Count(s.Positions))}, {S: "Then it begins again."}}
	}
	return nil
}

func softmaxSay(name view.Span, s infer.Softmax) view.Rich {
	how := "Every score is divided by T = " + view.Decimals(s.Temperature, 2) + " and becomes a probability. "
	if s.Temperature == 0 {
		how = "Every score becomes a probability, here at T = 1, since greedy divides by nothing. "
	}
	top := s.Rows.Rows[0]
	return view.Rich{
		name,
		{S: how},
		{Token: view.TokenText(top.Token), Style: view.Given},
		{S: " gets " + view.Prob(top.P) + "; all together make 1."},
	}
}

// stageFacts are a stage's own numbers.
func stageFacts(st *session.State, kind infer.Kind) []fact {
	switch s := st.StageOf(kind, turnRows).(type) {
	case infer.Forward:
		return []fact{
			{"Tokens read", view.Count(len(s.Tokens))},
			{"Positions attended", view.Count(s.Positions)},
			{"Multiply-adds", view.MultAdds(s.MultAdds)},
			{"Took", view.Took(s.Took)},
		}
	case infer.Logits:
		return []fact{
			{"Highest", view.Logit(float64(s.Max))},
			{"Lowest", view.Logit(float64(s.Min))},
			{"Multiply-adds", view.MultAdds(s.MultAdds)},
		}
	case infer.Softmax:
		return []fact{{"Temperature", view.Decimals(s.Temperature, 2)}, {"Entropy", view.Decimals(s.Entropy, 2) + " bits"}}
	case infer.Filter:
		return []fact{{"Top-p", view.Decimals(s.Settings.TopP, 2)}, {"Kept", view.Count(s.Kept)}, {"Cut", view.Count(s.Cut)}}
	case infer.Sample:
		if s.Greedy {
			return []fact{{"Rank", view.Count(s.Chosen.Rank)}, {"p", view.Prob(s.Chosen.P)}}
		}
		return []fact{{"u", view.Prob(s.U)}, {"Rank", view.Count(s.Chosen.Rank)}, {"p", view.Prob(s.Chosen.P)}, {"p′", view.Prob(s.Chosen.Q)}}
	case infer.Append:
		return []fact{{"Tokens so far", view.Count(s.Generated)}}
	case infer.CacheGrowth:
		return []fact{{"Positions", view.Count(s.Positions)}, {"Size", view.Bytes(s.Bytes)}, {"Grew by", view.Bytes(s.GrewBytes)}}
	}
	return nil
}
