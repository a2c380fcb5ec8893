package remote

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/polls"
)

// TestSummaryOfLargestClassFitsReply: the summary of a class of 4,000 that has voted on 40 quiz questions
// reaches other servers, with each choice.
func TestSummaryOfLargestClassFitsReply(t *testing.T) {
	t.Parallel()
	const members, questions = 4000, 40
	var list []*polls.Poll
	votes := polls.Votes{}
	for n := 1; n <= questions; n++ {
		p := &polls.Poll{
			ID: n, Kind: class.Question, Phase: class.Revealed, Round: 1, PromptText: "Why?", Asked: time.Now(),
			Options: []class.Option{{Key: "a"}, {Key: "b", Right: true}, {Key: "c"}},
		}
		list = append(list, p)
		for id := 2; id <= members; id++ { // the first member does not vote
			votes.Count(p.At(), id, polls.Vote{Choice: string(rune('a' + id%3)), N: 1})
		}
	}
	var s, got class.Summary
	polls.SumUp(&s, list, votes)
	text, err := json.Marshal(&s)
	if err != nil || len(text) > MaxReply/2 {
		t.Errorf("the summary has %d bytes, %v; want at most half of %d", len(text), err, MaxReply)
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	choices := got.Choices()
	if len(choices) != questions*(members-1) {
		t.Fatalf("got %d choices, want %d", len(choices), questions*(members-1))
	}
	for i, c := range choices {
		want := class.Choice{Poll: i / (members - 1), Member: i%(members-1) + 2, Choice: (i%(members-1) + 2) % 3}
		if c != want {
			t.Fatalf("choice %d is %+v, want %+v", i, c, want)
		}
	}
}
