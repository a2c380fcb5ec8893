package learn

import (
	"context"
	"slices"
	"strings"

	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/stage"
)

// chatEdited is the last position of the chat: after three requests comes the first one again,
// with its question changed.
const chatEdited = 4

func chatFields() []field {
	return []field{
		promptField("prompt", "Your question"), promptField("edit", "What you change it to"),
		atField(chatEdited, "1"),
	}
}

// A chatPart is one run of tokens of the conversation: an example, with marks like a chat
// template's. Born is the request in which it is first read or written.
type chatPart struct {
	Who, Text string
	Sees      string // what the screen shows of it; "" for hidden parts
	Born      int
	Marks     [2]string // one token each, before and after; "" for none
	Out       bool      // written by the model
	Think     bool      // written, and not shown
}

// chatParts returns the example with a first question.
func chatParts(question string) []chatPart {
	return []chatPart{
		{
			Who: "the app", Born: 1,
			Text:  "You are a guide in a railway museum. Today is Saturday. You may look up: opening_hours(day)",
			Marks: [2]string{"system", "end"},
		},
		{Who: "you", Text: question, Sees: question, Born: 1, Marks: [2]string{"user", "end"}},
		{Who: "the app", Born: 1, Marks: [2]string{"assistant", ""}},
		{
			Who: "the model", Text: "Tomorrow is Sunday. I don't know the hours, so I'll look them up.",
			Sees: "Thought for a moment", Born: 1, Marks: [2]string{"think", "/think"}, Out: true, Think: true,
		},
		{
			Who: "the model", Text: `opening_hours("Sunday")`, Sees: "Looked up the opening hours", Born: 1,
			Marks: [2]string{"call", "end"}, Out: true,
		},
		{Who: "the tool", Text: "from 10 to 5", Born: 2, Marks: [2]string{"result", "end"}},
		{Who: "the app", Born: 2, Marks: [2]string{"assistant", ""}},
		{
			Who: "the model", Text: "On Sunday we are open from 10 to 5.", Sees: "On Sunday we are open from 10 to 5.",
			Born: 2, Marks: [2]string{"", "end"}, Out: true,
		},
		{
			Who: "you", Text: "And how much is a ticket?", Sees: "And how much is a ticket?", Born: 3,
			Marks: [2]string{"user", "end"},
		},
		{Who: "the app", Born: 3, Marks: [2]string{"assistant", ""}},
		{
			Who: "the model", Text: "A ticket is 9, and 4 for children.", Sees: "A ticket is 9, and 4 for children.",
			Born: 3, Marks: [2]string{"", "end"}, Out: true,
		},
	}
}

// A chatToken is one token of the row: a mark of the template, or text.
type chatToken struct {
	Mark string
	ID   int // of a text's token
	Text stage.Text
}

// same reports whether two tokens are the same for the model.
func (t chatToken) same(u chatToken) bool { return t.Mark == u.Mark && (t.Mark != "" || t.ID == u.ID) }

// chat shows a conversation as a row of tokens, and what each request costs.
type chat struct{ model *infer.Model }

func newChat(d environment) experiment { return &chat{d.target} }

func (e *chat) show(ctx context.Context, in values) (templ.Component, error) {
	at, question := in.whole("at"), in["prompt"]
	if at == chatEdited {
		question = in["edit"]
	}
	run, err := newRun(ctx, e.model, question, settingsOf(values{}))
	if err != nil {
		return nil, err
	}
	st, err := stageTo(ctx, run, infer.KindForward)
	if err != nil {
		return nil, err
	}
	v := e.view(in["prompt"], in["edit"], at)
	v.Loop = loopAt(st)
	return chatHTML(v), nil
}

// tokens returns a part's tokens, including its marks.
func (e *chat) tokens(p chatPart) (list []chatToken) {
	if p.Marks[0] != "" {
		list = append(list, chatToken{Mark: p.Marks[0]})
	}
	if p.Text != "" {
		ids := e.model.Encode(p.Text)
		if bos := e.model.Config().BOS; bos >= 0 && ids[0] == bos {
			ids = ids[1:]
		}
		for _, id := range ids {
			list = append(list, chatToken{ID: id, Text: stage.TokenText(e.model.Token(id))})
		}
	}
	if p.Marks[1] != "" {
		list = append(list, chatToken{Mark: p.Marks[1]})
	}
	return list
}

// A chatView is the conversation at one request.
type chatView struct {
	At                          int
	Turns                       []chatTurn
	Kept, Read, Thought, Wrote  int
	Dead                        int // columns that an edit made useless
	Columns                     int
	bytes                       int64
	Back, Forward               target
	Loop                        string
	points                      float64
	keptPoints, inPoints, outPo float64
}

// A chatTurn is one part with its tokens at this request.
type chatTurn struct {
	Who, Sees string
	Chips     []chatChip
}

// A chatChip is one token; Class is kept, read, thought, wrote or dead.
type chatChip struct {
	Text  stage.Text
	Mark  string
	Class string
}

// Prices in points: typical proportions, not a vendor's list.
const (
	pointsRead   = 1.0
	pointsCached = 0.1
	pointsWrote  = 5.0
)

// view lays out the row. The kept columns of a request are those that earlier requests read or
// wrote, except for the last token written: its column is computed when the next request reads
// it.
func (e *chat) view(question, edit string, at int) chatView {
	v := chatView{At: at}
	parts := chatParts(question)
	if at == chatEdited {
		e.edited(&v, parts, chatParts(edit))
	} else {
		for request := 1; request <= at; request++ {
			e.request(&v, parts, request)
		}
	}
	v.keptPoints, v.inPoints = pointsCached*float64(v.Kept), pointsRead*float64(v.Read)
	v.outPo = pointsWrote * float64(v.Thought+v.Wrote)
	v.points = v.keptPoints + v.inPoints + v.outPo
	v.bytes = e.model.Shape().KVBytes(v.Columns, 4)
	v.Back, v.Forward = target{Words: "Back", At: at - 1}, target{Words: chatSteps[at], At: at + 1, Main: true}
	if at == chatEdited {
		v.Forward = target{Words: "From the beginning", At: 1, Main: true}
	}
	return v
}

// chatSteps name the step after each position.
var chatSteps = [...]string{"", "The tool answers", "You ask again", "Change your first question", ""}

// request computes the counts of a request from the parts up to it, and lays out its row.
func (e *chat) request(v *chatView, parts []chatPart, request int) {
	before := v.Columns
	v.Turns, v.Kept, v.Read, v.Thought, v.Wrote = nil, 0, 0, 0, 0
	n := 0
	for _, p := range parts {
		if p.Born > request {
			break
		}
		turn := chatTurn{Who: p.Who, Sees: p.Sees}
		for _, t := range e.tokens(p) {
			class := "read"
			switch {
			case n < before:
				class = "kept"
				v.Kept++
			case p.Born == request && p.Think:
				class = "thought"
				v.Thought++
			case p.Born == request && p.Out:
				class = "wrote"
				v.Wrote++
			default:
				v.Read++
			}
			turn.Chips = append(turn.Chips, chatChip{t.Text, t.Mark, class})
			n++
		}
		v.Turns = append(v.Turns, turn)
	}
	v.Columns = n - 1 // the last token written has no column yet
}

// edited compares the conversation with one whose first question is different: all columns from
// the first changed token on are useless.
func (e *chat) edited(v *chatView, old, changed []chatPart) {
	var was, is []chatToken
	for _, p := range old {
		was = append(was, e.tokens(p)...)
	}
	for _, p := range changed[:3] { // up to the mark that opens the answer
		is = append(is, e.tokens(p)...)
	}
	same := 0
	for same < len(is) && same < len(was) && is[same].same(was[same]) {
		same++
	}
	v.Kept, v.Read, v.Dead = same, len(is)-same, max(len(was)-1-same, 0)
	v.Columns = len(is)
	n := 0
	for _, p := range changed[:3] {
		turn := chatTurn{Who: p.Who, Sees: p.Sees}
		for _, t := range e.tokens(p) {
			class := "read"
			if n < same {
				class = "kept"
			}
			turn.Chips = append(turn.Chips, chatChip{t.Text, t.Mark, class})
			n++
		}
		v.Turns = append(v.Turns, turn)
	}
	dead := chatTurn{Who: "thrown away"}
	for _, t := range was[min(same, len(was)):] {
		dead.Chips = append(dead.Chips, chatChip{t.Text, t.Mark, "dead"})
	}
	v.Turns = append(v.Turns, dead)
}

// sentence describes the counts of the request.
func (v chatView) sentence() stage.Rich {
	count := func(n int) string { return terms.Counted(n, "token") }
	if v.At == chatEdited {
		return stage.Rich{
			{S: terms.CountedAs(v.Dead, "column", "columns") + " died with your edit. ", Style: stage.Bold},
			{S: "All from the first changed token on had seen it, directly or through another. " +
				count(v.Kept) + " before it are kept, " + count(v.Read) +
				" are read, and the answer is written again."},
		}
	}
	words := []string{count(v.Read) + " read"}
	if v.Kept > 0 {
		words = append([]string{count(v.Kept) + " from the cache"}, words...)
	}
	if v.Thought > 0 {
		words = append(words, count(v.Thought)+" of hidden thinking")
	}
	words = append(words, count(v.Wrote)+" written")
	return stage.Rich{
		{S: "Request " + terms.Count(v.At) + ". ", Style: stage.Bold}, {S: strings.Join(words, ", ") + "."},
	}
}

// bill lists what the request costs, in points.
func (v chatView) bill() []chatLine {
	points := func(x float64) string { return terms.Decimals(x, 1) }
	return slices.DeleteFunc([]chatLine{
		{"cached input", v.Kept, points(v.keptPoints)},
		{"input", v.Read, points(v.inPoints)},
		{"output", v.Thought + v.Wrote, points(v.outPo)},
		{"together", v.Kept + v.Read + v.Thought + v.Wrote, points(v.points)},
	}, func(l chatLine) bool { return l.Tokens == 0 })
}

// A chatLine is a line of the bill.
type chatLine struct {
	What   string
	Tokens int
	Points string
}
