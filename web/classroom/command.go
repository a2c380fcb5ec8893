package classroom

import (
	"math"
	"slices"
	"time"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/session"
)

// A maker returns a command for a room with the given view.
type maker func(v *class.View) class.Command

// commands are the commands of the instructor's page.
var commands = slices.Concat(terms.Commands[maker]{
	{Name: "goto", Inputs: terms.Inputs{
		terms.IntInput("step", 1, 1000),
	}, Make: with(func(v terms.Values) class.Command { return class.GoTo{Step: v.Int("step")} })},
	{Name: "next-step", Make: from(func(v *class.View) class.Command { return class.GoTo{Step: stepOf(v) + 1} })},
	{Name: "prev-step", Make: from(func(v *class.View) class.Command { return class.GoTo{Step: stepOf(v) - 1} })},

	{Name: "ask-walk", Make: always(class.AskWalk{})},
	{Name: "ask-next", Inputs: terms.Inputs{choicesInput, secondsInput, whereInput}, Make: with(askNext)},
	{Name: "new-poll", Inputs: terms.Inputs{choicesInput, secondsInput, whereInput}, Make: with(askNext)},
	{Name: "ask-question", Inputs: terms.Inputs{
		terms.TextInput("id"), secondsInput,
	}, Make: with(func(v terms.Values) class.Command { return class.AskQuestion{ID: v["id"], For: seconds(v)} })},
	{Name: "ask-draw", Inputs: terms.Inputs{secondsInput, whereInput}, Make: with(func(v terms.Values) class.Command {
		return class.AskDraw{For: seconds(v), Where: class.Where(v["where"])}
	})},
	{Name: "ask-number", Inputs: terms.Inputs{
		terms.TextInput("prompt"), terms.TextInput("unit"), decimal("answer"), decimal("within"), secondsInput,
	}, Make: with(askNumber)},
	{Name: "close", Make: always(class.Close{})},
	{Name: "extend", Inputs: terms.Inputs{
		terms.IntInput("seconds", 1, maxSeconds).With("30"),
	}, Make: with(func(v terms.Values) class.Command { return class.Extend{By: seconds(v)} })},
	{Name: "spread", Make: always(class.ShowSpread{})},
	{Name: "reveal", Make: always(class.Reveal{})},
	{Name: "revote", Inputs: terms.Inputs{secondsInput}, Make: with(func(v terms.Values) class.Command {
		return class.Revote{For: seconds(v)}
	})},
	{Name: "dismiss", Make: always(class.Dismiss{})},
	{Name: "append-majority", Make: always(class.AppendMajority{})},
	{Name: "append-of", Inputs: terms.Inputs{memberInput}, Make: with(func(v terms.Values) class.Command {
		return class.AppendOf{Member: v.Int("member")}
	})},

	{Name: "timer", Inputs: terms.Inputs{secondsInput}, Make: with(func(v terms.Values) class.Command {
		return class.SetTimer{For: seconds(v)}
	})},
	{Name: "lock", Make: always(class.Lock{On: true})},
	{Name: "unlock", Make: always(class.Lock{})},
	{Name: "hide-names", Make: always(class.HideNames{On: true})},
	{Name: "show-names", Make: always(class.HideNames{})},
	{Name: "alone-on", Make: always(class.AllowAlone{On: true})},
	{Name: "alone-off", Make: always(class.AllowAlone{})},
	{Name: "follow", Make: from(func(v *class.View) class.Command { return class.AllowAlone{On: !v.Alone} })},
	{Name: "drop-name", Inputs: terms.Inputs{memberInput}, Make: with(func(v terms.Values) class.Command {
		return class.DropName{Member: v.Int("member")}
	})},
	{Name: "remove", Inputs: terms.Inputs{memberInput}, Make: with(func(v terms.Values) class.Command {
		return class.Remove{Member: v.Int("member")}
	})},
	{Name: "assign", Inputs: terms.Inputs{
		{Key: "do", Kind: terms.KindLines}, terms.TextInput("names"),
	}, Make: with(assign)},
	{Name: "take-seat", Make: always(class.TakeOver{})},
	{Name: "end", Make: always(class.End{})},
	{Name: "reopen", Make: always(class.Reopen{})},
	// Browsers require the checkbox sure to be checked.
	{Name: "delete", Inputs: terms.Inputs{terms.TextInput("sure")}, Make: always(class.Delete{})},
}, runCommands())

// runCommands returns the commands that move the room's run. They are taken from
// [session.Commands], where "forward" is called "step".
func runCommands() (list terms.Commands[maker]) {
	for _, name := range []string{
		"step", "back", "token", "play", "pause", "reset", "goon", "start", "speed", "look", "redraw", "seek", "set",
	} {
		run, _ := session.Commands.Find(name)
		if name == "step" {
			name = "forward"
		}
		list = append(list, terms.Command[maker]{
			Name: name, Inputs: run.Inputs,
			Make: with(func(v terms.Values) class.Command { return class.Drive{Do: run.Make(v)} }),
		})
	}
	return list
}

// These functions return the Make function of a command that depends on its values (with), on the
// room's view (from), or on neither (always).

func with(make func(v terms.Values) class.Command) func(terms.Values) maker {
	return func(values terms.Values) maker {
		return func(*class.View) class.Command { return make(values) }
	}
}

func from(make maker) func(terms.Values) maker { return func(terms.Values) maker { return make } }

func always(c class.Command) func(terms.Values) maker {
	return from(func(*class.View) class.Command { return c })
}

// maxSeconds is the maximum duration of a vote or countdown: the length of one lesson.
const maxSeconds = 7200

var (
	choicesInput = terms.Optional(terms.IntInput("choices", 4, 8))
	secondsInput = terms.Optional(terms.IntInput("seconds", 0, maxSeconds))
	memberInput  = terms.IntInput("member", 1, 1<<30)
	// whereInput selects the position of the token that a poll asks about.
	whereInput = terms.Input{
		Key: "where", Kind: terms.KindChoice, Options: []string{string(class.Here), string(class.NextOpen)},
		Optional: true,
	}
)

func decimal(key string) terms.Input { return terms.Optional(terms.NumberInput(key, -math.MaxFloat64)) }

// seconds returns the duration in the field seconds, or 0 if there is none.
func seconds(v terms.Values) time.Duration { return time.Duration(v.Int("seconds")) * time.Second }

func stepOf(v *class.View) int {
	if v.Walk == nil {
		return 0
	}
	return v.Walk.Step
}

func askNext(v terms.Values) class.Command {
	return class.AskNext{Choices: v.Int("choices"), For: seconds(v), Where: class.Where(v["where"])}
}

func askNumber(v terms.Values) class.Command {
	ask := class.AskNumber{Prompt: v["prompt"], Unit: v["unit"], Within: v.Float("within"), For: seconds(v)}
	if _, given := v["answer"]; given {
		answer := v.Float("answer")
		ask.Answer = &answer
	}
	return ask
}

func assign(v terms.Values) class.Command {
	tasks := v.Lines("do")
	slices.Sort(tasks)
	return class.Assign{Tasks: slices.Compact(tasks), Names: v["names"] != ""}
}

// withholdField is a hidden field of the forms that can move the run. It is sent whichever button
// is pressed, so any command's message may contain it, but only commands that take a step use it.
const withholdField = "withhold"

// fieldsOf returns the fields that the message of an instructor's command may contain.
func fieldsOf(name string) ([]string, error) {
	c, ok := commands.Find(name)
	if !ok {
		return nil, noCommand(name)
	}
	names := c.Inputs.Keys()
	if !slices.Contains(names, withholdField) {
		names = append(names, withholdField)
	}
	return names, nil
}
