package lessons

import (
	"slices"
	"strings"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/chat"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
)

// startSettings returns the default settings of a run: all filters off, seed 42, and at most 64
// tokens.
func startSettings() infer.Settings {
	return infer.Settings{Settings: sampling.Pure, Seed: 42, Stop: infer.Stop{MaxTokens: 64}}
}

// readStarts reads starts.md: each start has a heading `## Title {#key temperature=0 …}` and the
// prompt as fenced code. With form=chat, the code is a conversation in which each message is a line
// such as "user: …", and there are no settings.
func (l *loader) readStarts(d *document) {
	for _, raw := range d.sections {
		l.attrsOf(raw, append(terms.KnobKeys(), "stop", "step", "stage", "form")...)
		s := &LoopStart{Key: raw.attrs.id, Step: 1, Stage: "forward"}
		_, s.Title = l.inline(raw.at, raw.title)
		l.startSettings(raw, s)
		at, text := l.plainParts(raw)
		if s.Prompt = fenced(text); raw.attrs.keys["form"] == "chat" {
			l.readChat(at, s)
			continue
		}
		if err := infer.CheckPrompt(s.Prompt, infer.MaxSampleBytes); err != nil {
			l.problems.add(at, "invalid prompt (it must be in a code block): %v", err)
		}
		l.course.Starts = append(l.course.Starts, s)
		l.course.starts[s.Key] = s
	}
}

// readChat parses the prompt of a start as a conversation.
func (l *loader) readChat(at position, s *LoopStart) {
	for _, line := range strings.Split(s.Prompt, "\n") {
		role, content, ok := strings.Cut(line, ": ")
		if !ok || !contains(chat.Roles, role) {
			l.problems.add(at, "invalid message %q; want one of %s, followed by a colon and a space", line,
				strings.Join(chat.Roles, ", "))
		}
		s.Chat = append(s.Chat, chat.Message{Role: role, Content: content})
	}
	s.Prompt = chat.Plain(s.Chat)
	l.course.starts[s.Key] = s
}

// fenced returns the text between the only pair of fences, or "".
func fenced(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	last := len(lines) - 1
	if last < 2 || fenceOf(strings.TrimSpace(lines[0])) == "" ||
		strings.TrimSpace(lines[0]) != strings.TrimSpace(lines[last]) {
		return ""
	}
	return strings.Join(lines[1:last], "\n")
}

// startInputs are the knobs that a heading can set.
var startInputs = func() (list terms.Inputs) {
	for _, k := range terms.Knobs() {
		list = append(list, k.Input)
	}
	return slices.Clip(list)
}()

// startSettings reads the settings in a heading's attributes. Missing settings are off.
func (l *loader) startSettings(raw *rawSection, s *LoopStart) {
	keys := raw.attrs.keys
	set := infer.Knobs{}
	for _, in := range append(startInputs, terms.IntInput("step", 1, terms.MaxMaxTokens)) {
		text, ok := keys[in.Key]
		if !ok {
			continue
		}
		value, err := in.Parse(text)
		x := terms.Values{in.Key: value}.Float(in.Key)
		switch {
		case err != nil:
			l.problems.add(raw.at, "%v", err)
		case in.Key == "step":
			s.Step = int(x)
		default:
			set[in.Key] = x
		}
	}
	next, err := startSettings().With(set)
	if stop, ok := keys["stop"]; ok {
		next.Stop.Strings = []string{stop}
	}
	if err == nil {
		err = next.Check()
	}
	if err != nil {
		l.problems.add(raw.at, "%v", err)
	}
	if s.Settings = next; s.Step < 1 || s.Step > next.Stop.MaxTokens {
		l.problems.add(raw.at, "step is %d; want 1 to max_tokens", s.Step)
	}
	if stage, ok := keys["stage"]; ok {
		if s.Stage = stage; !contains(terms.StageKeys(), stage) {
			l.problems.add(raw.at, "unknown stage %q; want one of %s", stage, strings.Join(terms.StageKeys(), ", "))
		}
	}
}
