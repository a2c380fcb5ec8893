package lessons

import (
	"fmt"
	"io/fs"
	"maps"
	"math"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
)

// numbered matches the numbers that order the scripts: 1-loop.md, 2-knobs.md.
var numbered = regexp.MustCompile(`^\d+-`)

// walkFolder is the folder of the walkthroughs. Each is a file with front matter (title, slug,
// minutes, lead) and steps:
//
//	## Title {#id}
//	::: do
//	start prompt="Once upon" temperature=1 top_p=1 seed=42 max_tokens=16
//	set top_k=3
//	stop max_tokens=32 string="User:"
//	go step=1 stage=filter
//	:::
//	The text of the step, as Markdown.
//	::: note
//	A note for the presenter only.
//	:::
//	::: ask next choices=5 seconds=60
//	:::
//	::: wait
//	Wait until everyone has voted.
//	:::
//
// The word ask may also be followed by `draw`, by `question id=…` for a question of the quiz, or by
// `number answer=… within=… unit=…` with the question as the directive's text. An answer may be a
// figure {=…}. The first step begins with start.
//
// A heading can say how long the step takes in a class, as in `## Title {#id minutes=2}`; then all
// headings do, and the minutes add up to the script's. The front matter can name the three questions of
// an exit ticket, `ticket: [q-one, q-two, q-three]`. They have choices, no step asks them, and they
// become the last steps.
const walkFolder = "walks"

// mostWalkMinutes is the longest that a walkthrough may take.
const mostWalkMinutes = 120

// readWalks reads all walkthroughs, ordered by name.
func (l *loader) readWalks() {
	names, err := fs.Glob(l.files, walkFolder+"/*.md")
	if err != nil {
		panic(fmt.Sprintf("lessons: walks: %v", err)) // the pattern is a constant
	}
	for _, name := range names {
		data, err := fs.ReadFile(l.files, name)
		if err != nil {
			l.problems.add(position{name, 1}, "%v", err)
			continue
		}
		l.readWalk(split(name, string(data), l.problems))
	}
}

func (l *loader) readWalk(d *document) {
	title, lead := l.field(d, "title"), l.field(d, "lead")
	w := &Walk{Slug: l.field(d, "slug").value, Minutes: l.count(d, "minutes", 1, mostWalkMinutes)}
	_, w.Title = l.inline(title.at, title.value)
	w.Lead, w.LeadText = l.inline(lead.at, lead.value)
	for _, key := range d.order {
		if !contains([]string{"title", "slug", "minutes", "lead", "ticket"}, key) {
			l.problems.add(d.front[key].at, "unknown front matter key %q", key)
		}
	}
	if l.checkID(d.front["slug"].at.or(d.at), w.Slug) &&
		numbered.ReplaceAllString(path.Base(d.at.file), "") != w.Slug+".md" {
		l.problems.add(d.front["slug"].at, "the slug %q does not match the file name", w.Slug)
	}
	if l.course.Walk(w.Slug) != nil {
		l.problems.add(d.front["slug"].at.or(d.at), "duplicate walkthrough %q", w.Slug)
	}
	if !d.intro.blank() {
		l.problems.add(d.intro.at, "text before the first step ## Title {#id}")
	}
	seen := map[string]bool{}
	for _, raw := range d.sections {
		s := l.readWalkStep(raw)
		if seen[s.ID] {
			l.problems.add(raw.at, "duplicate step id %q", s.ID)
		}
		seen[s.ID] = true
		w.Steps = append(w.Steps, s)
	}
	l.checkMinutes(d, w)
	if len(w.Steps) == 0 {
		l.problems.add(d.at, "the walkthrough has no steps")
	} else if !w.Steps[0].Starts() {
		l.problems.add(d.sections[0].at, "the ::: do of the first step must begin with `start`")
	}
	l.addTicket(d, w)
	l.course.Walks = append(l.course.Walks, w)
}

func (l *loader) readWalkStep(raw *rawSection) *WalkStep {
	l.attrsOf(raw, "minutes")
	l.checkID(raw.at, raw.attrs.id)
	s := &WalkStep{ID: raw.attrs.id, Line: raw.at.line}
	_, s.Title = l.inline(raw.at, raw.title)
	if text, ok := raw.attrs.keys["minutes"]; ok {
		value, err := terms.IntInput("minutes", 1, 60).Parse(text)
		if err != nil {
			l.problems.add(raw.at, "%v", err)
		} else {
			s.Minutes, _ = strconv.Atoi(value) // Parse has checked it
		}
	}
	seen := map[string]bool{}
	for _, p := range raw.parts {
		if seen[p.directive] && p.directive != "" {
			l.problems.add(p.at, "the step has multiple ::: %s directives", p.directive)
		}
		seen[p.directive] = true
		if p.words != "" && p.directive != "ask" {
			l.problems.add(p.at, "::: %s takes no arguments, got %q", p.directive, p.words)
		}
		switch p.directive {
		case "":
			s.Say += l.block(p.at, p.text())
		case "do":
			s.Do = l.readActions(p)
		case "note":
			s.Note = l.block(p.body(), p.text())
		case "wait":
			_, s.Wait = l.inline(p.body(), p.text())
		case "ask":
			s.Ask = l.readAsk(p)
		default:
			l.problems.add(p.at, "unknown directive %q in a step; want do, note, ask or wait", p.directive)
		}
	}
	if strings.TrimSpace(s.Say) == "" {
		l.problems.add(raw.at, "the step has no text")
	}
	return s
}

// readActions parses the lines of a `::: do` directive.
func (l *loader) readActions(p block) (list []Action) {
	for i, line := range p.lines {
		name, words, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name == "" {
			continue
		}
		at := p.body().down(i)
		a, err := parseAttrs(words)
		if err == nil && (a.id != "" || len(a.words) > 0) {
			err = fmt.Errorf("got %q, want key=value", words)
		}
		if err != nil {
			l.problems.add(at, "%v", err)
			continue
		}
		r := &walkWords{l: l, at: at, keys: a.keys, taken: map[string]bool{}}
		if action := r.action(name); action != nil {
			list = append(list, action)
		}
		r.rest()
	}
	if len(list) == 0 {
		l.problems.add(p.at, "::: do has no actions")
	}
	return list
}

// walkWords holds the settings on one line. It tracks which of them have been read.
type walkWords struct {
	l     *loader
	at    position
	keys  map[string]string
	taken map[string]bool
}

func (r *walkWords) say(format string, args ...any) { r.l.problems.add(r.at, format, args...) }

func (r *walkWords) text(key string) (string, bool) {
	r.taken[key] = true
	text, ok := r.keys[key]
	return text, ok
}

// values returns the values of inputs. It omits inputs that are invalid, or not set and without a
// default.
func (r *walkWords) values(inputs ...terms.Input) terms.Values {
	v := terms.Values{}
	for _, in := range inputs {
		text, ok := r.text(in.Key)
		if !ok {
			if in.Default != "" {
				v[in.Key] = in.Default
			}
			continue
		}
		value, err := in.Parse(text)
		if err != nil {
			r.say("%v", err)
			continue
		}
		v[in.Key] = value
	}
	return v
}

// rest reports settings that were not read.
func (r *walkWords) rest() {
	for key := range r.keys {
		if !r.taken[key] {
			r.say("unknown setting %q", key)
		}
	}
}

func (r *walkWords) action(name string) Action {
	switch name {
	case "start":
		return r.start()
	case "go":
		stage, _ := r.text("stage")
		kind, ok := infer.ParseKind(stage)
		if !ok {
			r.say("unknown stage %q; want one of %s", stage, strings.Join(terms.StageKeys(), ", "))
		}
		return WalkGo{Step: r.values(terms.IntInput("step", 1, 1<<20).With("1")).Int("step"), Stage: kind}
	case "set":
		return r.change(WalkSet{Knobs: r.knobs(terms.SetKeys()...)})
	case "stop":
		return r.change(r.stop())
	}
	r.say("unknown action %q; want start, go, set or stop", name)
	return nil
}

// change returns a. It reports an error if a sets nothing or if the engine would reject its
// settings.
func (r *walkWords) change(a WalkSet) WalkSet {
	if len(a.Knobs) == 0 && a.Stop == nil {
		r.say("no settings to change")
	}
	r.on(a, infer.DefaultSettings())
	return a
}

// on returns the settings s after applying a to them.
func (r *walkWords) on(a WalkSet, s infer.Settings) infer.Settings {
	next, err := s.With(a.Knobs)
	if a.Stop != nil {
		next.Stop.Strings = *a.Stop
	}
	if err == nil {
		err = next.Check()
	}
	if err != nil {
		r.say("%v", err)
	}
	return next
}

// start parses the start of a text. Missing settings are off, as for [LoopStart].
func (r *walkWords) start() Action {
	var a WalkStart
	a.Prompt, _ = r.text("prompt")
	if err := infer.CheckPrompt(a.Prompt, infer.MaxSampleBytes); err != nil {
		r.say("%v", err)
	}
	stop := r.stop()
	maps.Copy(stop.Knobs, r.knobs(terms.SetKeys()...))
	a.Settings = r.on(stop, startSettings())
	return a
}

// knobs returns the values of the given knobs that are set.
func (r *walkWords) knobs(keys ...string) infer.Knobs {
	set := infer.Knobs{}
	for _, key := range keys {
		if v := r.values(terms.MustKnob(key).Input); len(v) > 0 {
			set[key] = v.Float(key)
		}
	}
	return set
}

func (r *walkWords) stop() WalkSet {
	a := WalkSet{Knobs: r.knobs("max_tokens")}
	if text, ok := r.text("string"); ok {
		a.Stop = &[]string{text}
	}
	return a
}

// readAsk parses `::: ask KIND key=value …`.
func (l *loader) readAsk(p block) *AskSpec {
	a, err := parseAttrs(p.words)
	if err != nil || len(a.words) != 1 || a.id != "" {
		l.problems.add(p.at, "got ::: ask %s, want one kind (next, draw, question or number) and key=value settings",
			p.words)
		return nil
	}
	r := &walkWords{l: l, at: p.at, keys: a.keys, taken: map[string]bool{}}
	s := &AskSpec{Kind: AskKind(a.words[0]), Seconds: r.values(terms.IntInput("seconds", 5, 3600)).Int("seconds")}
	switch s.Kind {
	case AskNext:
		s.Choices = r.values(terms.IntInput("choices", 4, 8).With("5")).Int("choices")
	case AskDraw:
	case AskQuestion:
		id, _ := r.text("id")
		if s.Question = l.course.Question(id); s.Question == nil {
			r.say("the quiz has no question %q", id)
		}
	case AskNumber:
		s.Prompt, s.PromptText = l.blockText(p.body(), p.text())
		if s.PromptText == "" {
			r.say("::: ask number requires a text with the question")
		}
		r.answer(s)
	default:
		r.say("unknown kind %q; want next, draw, question or number", s.Kind)
	}
	if s.Kind != AskNumber && !p.blank() {
		r.say("only ::: ask number can have a text")
	}
	r.rest()
	return s
}

// answer parses the right number, which may be a figure.
func (r *walkWords) answer(s *AskSpec) {
	if figure, ok := r.keys["answer"]; ok && strings.HasPrefix(figure, "{=") && strings.HasSuffix(figure, "}") {
		r.keys["answer"] = strings.ReplaceAll(r.l.figure(r.at, figure[2:len(figure)-1]), ",", "")
	}
	v := r.values(terms.NumberInput("answer", -math.MaxFloat64), terms.NumberInput("within", 0))
	if len(v) < 2 {
		r.say("::: ask number requires answer=… and within=… (the largest accepted error)")
		return
	}
	s.Answer, s.Within = v.Float("answer"), v.Float("within")
	s.Unit, _ = r.text("unit")
}
