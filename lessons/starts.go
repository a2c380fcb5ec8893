package lessons

import (
	"strconv"
	"strings"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
)

// Settings returns what the run is made with.
func (s *LoopStart) Settings() infer.Settings {
	return infer.Settings{
		Settings: sampling.Settings{Temperature: s.Temperature, TopK: s.TopK, TopP: s.TopP, MinP: s.MinP},
		Seed:     s.Seed,
		Stop:     infer.Stop{MaxTokens: s.MaxTokens, Strings: s.Stop},
	}
}

// readStarts reads starts.md: `## Title {#key temperature=0 …}` and the prompt
// as fenced code.
func (l *loader) readStarts(d *document) {
	for _, raw := range d.sections {
		l.attrsOf(raw, "temperature", "top_k", "top_p", "min_p", "seed", "max_tokens", "stop", "step", "stage")
		s := &LoopStart{Key: raw.attrs.id, Stage: "forward"}
		_, s.Title = l.inline(raw.at, raw.title)
		l.startSettings(raw, s)
		at, text := l.plainParts(raw)
		s.Prompt = fenced(text)
		if err := infer.CheckPrompt(s.Prompt, maxWidgetPrompt); err != nil {
			l.problems.add(at, "the prompt, in a fence of its own: %v", err)
		}
		if err := s.Settings().Check(); err != nil {
			l.problems.add(raw.at, "%v", err)
		}
		l.course.Starts = append(l.course.Starts, s)
		l.course.starts[s.Key] = s
	}
}

// fenced is what stands between the only pair of fences, or "".
func fenced(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	last := len(lines) - 1
	if last < 2 || fenceOf(strings.TrimSpace(lines[0])) == "" ||
		strings.TrimSpace(lines[0]) != strings.TrimSpace(lines[last]) {
		return ""
	}
	return strings.Join(lines[1:last], "\n")
}

// startSettings reads the settings in a heading's attributes; what is not
// said is off.
func (l *loader) startSettings(raw *rawSection, s *LoopStart) {
	keys := raw.attrs.keys
	float := func(key string, otherwise float64) float64 {
		text, ok := keys[key]
		if !ok {
			return otherwise
		}
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			l.problems.add(raw.at, "%s is %q, and must be a number", key, text)
		}
		return x
	}
	whole := func(key string, otherwise int) int {
		x := float(key, float64(otherwise))
		if x != float64(int(x)) {
			l.problems.add(raw.at, "%s must be whole", key)
		}
		return int(x)
	}
	s.Temperature, s.TopP, s.MinP = float("temperature", 1), float("top_p", 1), float("min_p", 0)
	s.TopK, s.Seed, s.MaxTokens = whole("top_k", 0), uint64(whole("seed", 42)), whole("max_tokens", 64)
	if s.Step = whole("step", 1); s.Step < 1 || s.Step > s.MaxTokens {
		l.problems.add(raw.at, "step is %d, and must be from 1 to max_tokens", s.Step)
	}
	if stop, ok := keys["stop"]; ok {
		s.Stop = []string{stop}
	}
	if stage, ok := keys["stage"]; ok {
		if s.Stage = stage; !contains(terms.StageKeys(), stage) {
			l.problems.add(raw.at, "the stage %q is none of %s", stage, strings.Join(terms.StageKeys(), ", "))
		}
	}
}
