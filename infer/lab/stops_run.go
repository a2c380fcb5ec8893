package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
)

// stopsRun is a run of the stops lab.
type stopsRun struct {
	*running
	m       *infer.Model
	v       terms.Values
	strings []string
	prompt  int // number of positions
	ids     []int
	bytes   []byte // of all tokens
	ends    []int  // for each token, the number of bytes up to its end
	result  Stops
}

// Estimate implements [Lab].
func (stopsLab) Estimate(env Env, v terms.Values) (Estimate, error) {
	prompt, tokens, err := env.room(v, "tokens")
	if err != nil {
		return Estimate{}, err
	}
	s := env.Target.Shape()
	all := written(s, prompt, tokens).times(2)
	return guess(env, all, 2*tokens, s.KVBytes(prompt+tokens, 4)+int64(tokens)*int64(s.Vocab)*4), nil
}

// Run implements [Lab].
func (stopsLab) Run(ctx context.Context, env Env, v terms.Values, progress func(Progress)) (*Report, error) {
	prompt, tokens, err := env.room(v, "tokens")
	if err != nil {
		return nil, err
	}
	r := &stopsRun{
		running: start(ctx, "stops", env, v, progress), m: env.Target, v: v, prompt: prompt, strings: v.Lines("stop"),
	}
	r.fill = r.fillReport
	r.of = tokens + 1
	r.result.Prompt = tokensOf(r.m, r.m.Encode(v["prompt"]))
	r.result.Racers = stopRacers(r.m, v, prompt)
	for _, part := range []func() error{func() error { return r.race(tokens) }, r.straddle} {
		if err := part(); err != nil {
			return r.end(err)
		}
	}
	return r.end(nil)
}

// race generates the text, continuing past every stop condition except a full context, and checks
// all conditions at every token.
func (r *stopsRun) race(tokens int) error {
	loop, err := infer.NewLoop(r.m, r.v["prompt"], settingsOf(r.v, tokens, r.strings...))
	if err != nil {
		return err
	}
	for {
		s, err := turn(r.ctx, loop)
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		r.add(s)
		r.tell(1, Text("lab.run.token_of", "n", fmt.Sprint(s.N), "all", fmt.Sprint(tokens)))
		if reason := loop.Stopped(); reason == infer.StopEOS || reason == infer.StopString {
			if err := loop.GoOn(); err != nil {
				return err
			}
		}
	}
}

// bytesOfToken returns the bytes that a token adds to the text.
func bytesOfToken(m *infer.Model, id int) []byte {
	switch t := m.Token(id); {
	case t.Special:
		return nil
	case t.Bytes != nil:
		return t.Bytes
	default:
		return []byte(t.Text)
	}
}

// add records one token and checks which conditions fire there.
func (r *stopsRun) add(s *infer.Step) {
	fresh := bytesOfToken(r.m, s.Chosen)
	r.ids, r.bytes = append(r.ids, s.Chosen), append(slices.Clip(r.bytes), fresh...)
	r.ends = append(r.ends, len(r.bytes))
	row := StopStep{Step: s.N, Token: tokenOf(r.m, s.Chosen), Text: s.Text, Held: string(s.Held)}
	for _, c := range s.Conditions {
		switch c.Kind {
		case infer.StopEOS:
			row.EndP, row.Kept = c.P, c.Kept
		case infer.StopString:
			row.Match = append(row.Match, c.Matched)
		}
	}
	r.result.Tokens = append(r.result.Tokens, row)
	racers := slices.Clone(r.result.Racers)
	for i := range racers {
		x := &racers[i]
		switch x.Kind {
		case infer.StopEOS:
			if x.Step == 0 && r.m.EOS(s.Chosen) {
				x.Step, x.Text = s.N, whole(r.bytes)
			}
		case infer.StopString:
			if x.Step > 0 {
				continue
			}
			stop := infer.Stop{MaxTokens: infer.MaxMaxTokens, Strings: []string{x.String}}
			if _, fired, safe := infer.Ending(false, s.N, 0, 1, r.bytes, len(fresh), stop); fired != "" {
				x.Step, x.Text = s.N, whole(r.bytes[:safe])
			}
		default:
			if x.Step == s.N {
				x.Text = whole(r.bytes)
			}
		}
	}
	r.result.Racers = racers
}

// whole converts bytes to a string, replacing incomplete characters.
func whole(b []byte) string { return strings.ToValidUTF8(string(b), string(utf8.RuneError)) }

// straddle looks for a stop string that spans tokens: one of the given strings or, failing that, a
// string cut from the generated text. It then generates the text again with that stop string.
func (r *stopsRun) straddle() error {
	str, at, given := r.straddling()
	if str == "" {
		return nil
	}
	first, last := r.tokenAt(at), r.tokenAt(at+len(str)-1)
	x := &Straddle{String: str, Given: given, First: first + 1, Last: last + 1, Offset: at}
	if first > 0 {
		x.Offset -= r.ends[first-1]
	}
	loop, err := infer.NewLoop(r.m, r.v["prompt"], settingsOf(r.v, len(r.ids), str))
	if err != nil {
		return err
	}
	const before = 2 // number of tokens shown in front of the string
	for {
		s, err := turn(r.ctx, loop)
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
		x.Kept += s.Text
		if s.N >= x.First-before {
			row := StraddleStep{
				Step: s.N, Token: tokenOf(r.m, s.Chosen), Text: s.Text, Held: string(s.Held), Stop: s.Stop,
			}
			for _, c := range s.Conditions {
				if c.Kind == infer.StopString {
					row.Matched = c.Matched
				}
			}
			x.Steps = append(x.Steps, row)
		}
		if loop.Stopped() == infer.StopEOS { // race also continued past an end of text
			if err := loop.GoOn(); err != nil {
				return err
			}
		}
	}
	r.result.Straddle = x
	r.tell(1, Text("lab.stops.run.straddle"))
	return nil
}

// straddling returns a string that spans tokens, or "" if there is no such string, and the offset
// of its first occurrence in the text. Its first choice is a given string that begins inside a
// token, its second a string cut from the text, and its third a given string that begins with one
// token and ends in a later one.
func (r *stopsRun) straddling() (str string, at int, given bool) {
	text := string(r.bytes)
	var second string
	for _, s := range r.strings {
		at := strings.Index(text, s)
		if at < 0 || r.tokenAt(at) == r.tokenAt(at+len(s)-1) {
			continue
		}
		if i := r.tokenAt(at); at > 0 && (i == 0 || r.ends[i-1] != at) {
			return s, at, true
		}
		if second == "" {
			second = s
		}
	}
	for i := 1; i < len(r.ids); i++ {
		a, b := string(bytesOfToken(r.m, r.ids[i-1])), string(bytesOfToken(r.m, r.ids[i]))
		if !cuttable(a) || !cuttable(b) {
			continue
		}
		end, beginning := string([]rune(a)[len([]rune(a))-2:]), string([]rune(b)[:3])
		if at := strings.Index(text, end+beginning); at >= 0 && at+len(end) == r.ends[i-1] {
			return end + beginning, at, false
		}
	}
	if second != "" {
		return second, strings.Index(text, second), true
	}
	return "", 0, false
}

// cuttable reports whether a cut inside a token's text is visible: the text must have at least four
// characters, all letters except for a leading space.
func cuttable(text string) bool {
	runes := []rune(text)
	if len(runes) < 4 || !utf8.ValidString(text) {
		return false
	}
	for i, c := range runes {
		if !unicode.IsLetter(c) && (i > 0 || c != ' ') {
			return false
		}
	}
	return true
}

// tokenAt returns the index of the token that contains the byte at the given offset of the text.
func (r *stopsRun) tokenAt(place int) int {
	i, found := slices.BinarySearch(r.ends, place)
	if found {
		i++ // token i ends just before this byte
		for i < len(r.ends) && r.ends[i] == place {
			i++ // skip tokens without bytes
		}
	}
	return i
}

func (r *stopsRun) fillReport(to *Report) {
	if len(r.ids) == 0 {
		return
	}
	result := r.result
	result.Tokens = slices.Clip(result.Tokens)
	result.Racers = slices.Clone(result.Racers)
	slices.SortStableFunc(result.Racers, func(a, b Racer) int {
		if (a.Step == 0) != (b.Step == 0) {
			return cmp.Compare(b.Step, a.Step) // conditions that never fire come last
		}
		return cmp.Compare(a.Step, b.Step)
	})
	for i := range result.Racers {
		result.Racers[i].Say = result.Racers[i].sentence(len(r.ids))
	}
	if first := result.Racers[0]; first.Step > 0 && first.Step <= len(r.ids) {
		result.Winner, result.Answer = string(first.Kind), first.Text
	}
	result.NoEnd = r.noEnd()
	to.Result = &result
}

// sentence returns a sentence that states where a condition fires. written is the number of tokens
// generated.
func (x Racer) sentence(written int) Phrase {
	switch {
	case x.Step == 0:
		return Text("lab.stops.never", "n", fmt.Sprint(written))
	case x.Step > written:
		return Text("lab.stops.later", "n", fmt.Sprint(x.Step))
	}
	return Text("lab.stops.at", "n", fmt.Sprint(x.Step))
}

// noEnd describes the text that follows the end-of-text token if the run does not stop there.
func (r *stopsRun) noEnd() NoEnd {
	n := NoEnd{Tokens: len(r.ids)}
	split := len(r.ids)
	for i, id := range r.ids {
		if !r.m.EOS(id) {
			continue
		}
		if n.Ends++; n.EndAt == 0 {
			n.EndAt, split = i+1, i+1
		}
	}
	bytes := 0
	if split > 0 {
		bytes = r.ends[split-1]
	}
	n.Before, n.After = whole(r.bytes[:bytes]), whole(r.bytes[bytes:])
	n.Measures = [2]TextMeasures{measure(r.ids[:split]), measure(r.ids[split:])}
	n.Circle = circle(r.m, r.ids[split:])
	if n.Circle != nil {
		n.Circle.Start += split
	}
	switch {
	case len(r.m.Config().EOS) == 0:
		n.Say = Text("lab.stops.no_end.without")
	case n.EndAt == 0:
		n.Say = Text("lab.stops.no_end.none", "n", fmt.Sprint(n.Tokens))
	default:
		n.Say = Text("lab.stops.no_end", "n", fmt.Sprint(n.EndAt), "more", fmt.Sprint(n.Tokens-n.EndAt),
			"ends", fmt.Sprint(n.Ends-1))
	}
	return n
}

// tables returns the raw rows.
func (s *Stops) tables() []Table {
	race := Table{
		Name: "race", Title: Text("lab.stops.race"),
		Columns: columns(
			"condition", "", "string", "", "limit", "", "token", "", "known", "", "text_left", "",
		),
	}
	for _, x := range s.Racers {
		var limit, step any
		if x.Limit > 0 {
			limit = x.Limit
		}
		if x.Step > 0 {
			step = x.Step
		}
		race.add(string(x.Kind), x.String, limit, step, x.Sure, x.Text)
	}
	names := []any{
		"step", "", "token", "", "id", "", "released", "", "held_back", "", "p_of_end", "", "kept", "", "matched_stops",
		"bytes",
	}
	var strs []string
	for _, x := range s.Racers {
		if x.Kind == infer.StopString {
			strs = append(strs, x.String)
		}
	}
	tokens := Table{
		Name: "tokens", Title: Text("lab.stops.tokens"), Columns: columns(names...),
	}
	for _, t := range s.Tokens {
		var matched any
		if len(strs) > 0 {
			matched = slices.Max(t.Match)
		}
		tokens.add(t.Step, t.Token.Text, t.Token.ID, t.Text, t.Held, t.EndP, t.Kept, matched)
	}
	straddle := Table{
		Name: "straddle", Title: Text("lab.stops.straddle"),
		Columns: columns("step", "", "token", "", "released", "", "held_back", "", "matched", "bytes", "stop", ""),
	}
	if s.Straddle != nil {
		straddle.Title = Text("lab.stops.straddle.of", "string", terms.Quoted(s.Straddle.String))
		for _, x := range s.Straddle.Steps {
			straddle.add(x.Step, x.Token.Text, x.Text, x.Held, x.Matched, string(x.Stop))
		}
	}
	end := Table{
		Name: "no_end", Title: Text("lab.stops.ends"),
		Columns: columns("part", "", "tokens", "", "distinct_2", "", "repetition", "", "text", ""),
	}
	for i, name := range []Phrase{Text("lab.stops.ends.before"), Text("lab.stops.ends.after")} {
		text := s.NoEnd.Before
		if i == 1 {
			text = s.NoEnd.After
		}
		m := s.NoEnd.Measures[i]
		end.add(name, m.Tokens, m.Distinct2, m.Repetition, text)
	}
	return []Table{race, straddle, end, tokens}
}
