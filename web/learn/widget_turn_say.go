package learn

import (
	"fmt"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/stage"
)

// stageSay tells what one stage has done.
func stageSay(st *session.State, kind infer.Kind) stage.Rich {
	bold := func(s string) stage.Span { return stage.Span{S: s, Style: stage.Bold} }
	name := bold(fmt.Sprintf("%d %s. ", kind, terms.StageAt(int(kind)).Short))
	switch s := st.StageOf(kind, turnRows).(type) {
	case infer.Forward:
		blocks := terms.Counted(st.Model.Config().Layers, "block")
		if s.Prefill {
			return stage.Rich{
				name,
				{S: fmt.Sprintf("The %s of the prompt go through all %s, "+
					"together.", terms.Counted(len(s.Tokens), "token"), blocks)},
			}
		}
		return stage.Rich{
			name,
			{S: "One token, "},
			{Token: stage.TokenText(s.Tokens[0]), Style: stage.Gen},
			{S: fmt.Sprintf(", goes through all %s. The %d before it are in the cache.", blocks, s.Positions-1)},
		}
	case infer.Logits:
		top := s.Rows.Rows[0]
		return stage.Rich{
			name,
			{S: "Each of the " + terms.Counted(s.Vocab, "token") + " gets a score. The highest goes to "},
			{Token: stage.TokenText(top.Token), Style: stage.Given},
			{S: "."},
		}
	case infer.Softmax:
		return softmaxSay(name, s)
	case infer.Filter:
		return stage.Rich{name, {S: fmt.Sprintf("%s of %s tokens stay, with %s of the probability. They are scaled up "+
			"to 1.",
			terms.Count(s.Kept), terms.Count(s.Kept+s.Cut), terms.Prob(s.Mass))}}
	case infer.Sample:
		chosen := stage.Span{Token: stage.TokenText(s.Chosen.Token), Style: stage.Pick}
		if s.Greedy {
			return stage.Rich{name, {S: "No draw: greedy takes the most probable token, "}, chosen, {S: "."}}
		}
		return stage.Rich{
			name,
			{
				S: fmt.Sprintf(
					"u = %s falls between %s and %s, on ", terms.Prob(s.U), terms.Prob(s.From), terms.Prob(s.To),
				),
			},
			chosen,
			{S: "."},
		}
	case infer.Append:
		return stage.Rich{
			name, {Token: stage.TokenText(s.Token), Style: stage.Gen}, {S: " joins the text" + stopSay(s.Stop)},
		}
	case infer.CacheGrowth:
		return stage.Rich{
			name,
			{S: fmt.Sprintf("The pass leaves keys and values of %s more, %s "+
				"now. ", terms.Counted(s.Grew, "position"), terms.Count(s.Positions))},
			{S: "Then it begins again."},
		}
	}
	return nil
}

func softmaxSay(name stage.Span, s infer.Softmax) stage.Rich {
	how := "Every score is divided by T = " + terms.Decimals(s.Temperature, 2) + " and becomes a probability. "
	if s.Temperature == 0 {
		how = "Every score becomes a probability, here at T = 1, since greedy divides by nothing. "
	}
	top := s.Rows.Rows[0]
	return stage.Rich{
		name,
		{S: how},
		{Token: stage.TokenText(top.Token), Style: stage.Given},
		{S: " gets " + terms.Prob(top.P) + "; all together make 1."},
	}
}

// stageFacts are a stage's own numbers.
func stageFacts(st *session.State, kind infer.Kind) []fact {
	switch s := st.StageOf(kind, turnRows).(type) {
	case infer.Forward:
		return []fact{
			{"Tokens read", terms.Count(len(s.Tokens))},
			{"Positions attended", terms.Count(s.Positions)},
			{"Multiply-adds", terms.MultAdds(s.MultAdds)},
			{"Took", terms.Took(s.Took)},
		}
	case infer.Logits:
		return []fact{
			{"Highest", terms.Logit(float64(s.Max))},
			{"Lowest", terms.Logit(float64(s.Min))},
			{"Multiply-adds", terms.MultAdds(s.MultAdds)},
		}
	case infer.Softmax:
		return []fact{
			{"Temperature", terms.Decimals(s.Temperature, 2)}, {"Entropy", terms.Decimals(s.Entropy, 2) + " bits"},
		}
	case infer.Filter:
		return []fact{
			{"Top-p", terms.Decimals(s.Settings.TopP, 2)}, {"Kept", terms.Count(s.Kept)}, {"Cut", terms.Count(s.Cut)},
		}
	case infer.Sample:
		if s.Greedy {
			return []fact{{"Rank", terms.Count(s.Chosen.Rank)}, {"p", terms.Prob(s.Chosen.P)}}
		}
		return []fact{
			{"u", terms.Prob(s.U)},
			{"Rank", terms.Count(s.Chosen.Rank)},
			{"p", terms.Prob(s.Chosen.P)},
			{"p′", terms.Prob(s.Chosen.Q)},
		}
	case infer.Append:
		return []fact{{"Tokens so far", terms.Count(s.Generated)}}
	case infer.CacheGrowth:
		return []fact{
			{"Positions", terms.Count(s.Positions)},
			{"Size", terms.Bytes(s.Bytes)},
			{"Grew by", terms.Bytes(s.GrewBytes)},
		}
	}
	return nil
}
