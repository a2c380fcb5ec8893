package class

import (
	"math"
	"slices"
	"time"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
)

// A Maker returns a command for a room with the given view.
type Maker func(v *View) Command

// runCommands returns the commands that move the room's run. They are taken from
// [session.Commands], where "forward" is called "step".
func runCommands() (list terms.Commands[Maker]) {
	for _, name := range []string{
		"step", "back", "token", "play", "pause", "reset", "goon", "start", "speed", "look", "redraw", "seek", "set",
	} {
		run, _ := session.Commands.Find(name)
		if name == "step" {
			name = "forward"
		}
		list = append(list, terms.Command[Maker]{
			Name: name, Inputs: run.Inputs,
			Make: with(func(v terms.Values) Command { return Drive{Do: run.Make(v)} }),
		})
	}
	return list
}

// These functions return the Make function of a command that depends on its values (with), on the
// room's view (from), or on neither (always).

func with(make func(v terms.Values) Command) func(terms.Values) Maker {
	return func(values terms.Values) Maker {
		return func(*View) Command { return make(values) }
	}
}

func from(make Maker) func(terms.Values) Maker { return func(terms.Values) Maker { return make } }

func always(c Command) func(terms.Values) Maker {
	return from(func(*View) Command { return c })
}

// maxSeconds is the maximum duration of a vote or countdown: the length of one lesson.
const maxSeconds = 7200

var (
	choicesInput = terms.Optional(terms.IntInput("choices", 4, 8))
	secondsInput = terms.Optional(terms.IntInput("seconds", 0, maxSeconds))
	memberInput  = terms.IntInput("member", 1, 1<<30)
	// whereInput selects the position of the token that a poll asks about.
	whereInput = terms.Input{
		Key: "where", Kind: terms.KindChoice, Options: []string{string(Here), string(NextOpen)},
		Optional: true,
	}
)

func decimal(key string) terms.Input { return terms.Optional(terms.NumberInput(key, -math.MaxFloat64)) }

// seconds returns the duration in the field seconds, or 0 if there is none.
func seconds(v terms.Values) time.Duration { return time.Duration(v.Int("seconds")) * time.Second }

func stepOf(v *View) int {
	if v.Walk == nil {
		return 0
	}
	return v.Walk.Step
}

func askNext(v terms.Values) Command {
	return AskNext{Choices: v.Int("choices"), For: seconds(v), Where: Where(v["where"])}
}

func askNumber(v terms.Values) Command {
	ask := AskNumber{Prompt: v["prompt"], Unit: v["unit"], Within: v.Float("within"), For: seconds(v)}
	if _, given := v["answer"]; given {
		answer := v.Float("answer")
		ask.Answer = &answer
	}
	return ask
}

func assign(v terms.Values) Command {
	tasks := v.Lines("do")
	slices.Sort(tasks)
	return Assign{Tasks: slices.Compact(tasks), Names: v["names"] != ""}
}
