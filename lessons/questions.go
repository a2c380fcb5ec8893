package lessons

import (
	"regexp"
	"strings"
)

// isSubheading matches ### within a question.
var isSubheading = regexp.MustCompile(`^###[ \t]+(.*?)[ \t]*$`)

// readQuestions reads quiz.md. A question has the form
//
//	## ID {kind=recall outcome=loop section=slug#id}
//	The prompt.
//	### Answer
//	### Rubric
//	- a point that a good answer makes
//
// or, with kind=choice, consists of the prompt and lines `- [ ] wrong` and `- [x] right`, each
// followed by indented lines with the reason.
func (l *loader) readQuestions(d *document) {
	for _, s := range d.sections {
		l.attrsOf(s, "kind", "outcome", "section")
		q := &Question{ID: s.attrs.id, Kind: s.attrs.keys["kind"]}
		q.Outcome, q.Section = l.known(s)
		parts := l.subsections(s)
		prompt := parts["Prompt"]
		q.Prompt, q.PromptText = l.blockText(prompt.at, prompt.text())
		if q.PromptText == "" {
			l.problems.add(s.at, "the question has no prompt")
		}
		if a, ok := parts["Answer"]; ok {
			q.Answer = l.block(a.at, a.text())
		}
		switch q.Kind {
		case "recall":
			if q.Answer == "" {
				l.problems.add(s.at, "a recall question requires ### Answer")
			}
			l.rubric(s, q, parts["Rubric"])
			if len(parts["Choices"].lines) > 0 {
				l.problems.add(s.at, "a recall question must not have choices")
			}
		case "choice":
			l.choices(s, q, parts["Choices"])
			if len(parts["Rubric"].lines) > 0 {
				l.problems.add(s.at, "a choice question must not have a rubric")
			}
		default:
			l.problems.add(s.at, "unknown kind %q; want recall or choice", q.Kind)
		}
		l.course.Questions = append(l.course.Questions, q)
		l.course.questions[q.ID] = q
		l.where["quiz:"+q.ID] = s.at
	}
}

// subsections splits a question at its ### headings. Choices may follow the
// prompt without a heading.
func (l *loader) subsections(s *rawSection) map[string]block {
	at, text := l.plainParts(s)
	parts := map[string]block{}
	name, now := "Prompt", block{at: at}
	flush := func() {
		if _, twice := parts[name]; twice {
			l.problems.add(now.at, "duplicate heading ### %s", name)
		}
		parts[name] = now
	}
	for i, line := range strings.Split(text, "\n") {
		if m := isSubheading.FindStringSubmatch(line); m != nil {
			flush()
			name, now = m[1], block{at: at.down(i + 1)}
			if !contains([]string{"Answer", "Rubric", "Choices"}, name) {
				l.problems.add(at.down(i), "unknown heading %q in a question; want Answer, Rubric or Choices", name)
			}
			continue
		}
		if name == "Prompt" && isChoice.MatchString(line) {
			flush()
			name, now = "Choices", block{at: at.down(i)}
		}
		now.lines = append(now.lines, line)
	}
	flush()
	return parts
}

// item is a list item's first line, with the indented lines below it.
type item struct {
	at    position
	first string
	more  []string
}

// items splits a list into its items, each of which begins with a match of mark.
func (l *loader) items(p block, mark *regexp.Regexp) (list []item) {
	for i, line := range p.lines {
		at := p.at.down(i)
		if m := mark.FindStringIndex(line); m != nil {
			list = append(list, item{at: at, first: line})
			continue
		}
		blank := strings.TrimSpace(line) == ""
		if len(list) == 0 || !blank && !strings.HasPrefix(line, "  ") {
			if !blank {
				l.problems.add(at, "the line does not belong to a list item: %q", line)
			}
			continue
		}
		line = strings.TrimPrefix(line, "  ")
		line = strings.TrimPrefix(strings.TrimPrefix(line, ">"), " ")
		list[len(list)-1].more = append(list[len(list)-1].more, line)
	}
	return list
}

var (
	isItem   = regexp.MustCompile(`^- `)
	isChoice = regexp.MustCompile(`^- \[[ x]\] `)
)

func (l *loader) rubric(s *rawSection, q *Question, p block) {
	for _, it := range l.items(p, isItem) {
		html, _ := l.inline(it.at, strings.Join(append([]string{strings.TrimPrefix(it.first, "- ")}, it.more...), "\n"))
		q.Rubric = append(q.Rubric, html)
	}
	if len(q.Rubric) < 2 {
		l.problems.add(s.at, "a recall question requires ### Rubric with at least two points")
	}
}

func (l *loader) choices(s *rawSection, q *Question, p block) {
	right := 0
	for _, it := range l.items(p, isChoice) {
		c := Choice{Right: it.first[3] == 'x'}
		c.HTML, c.Text = l.inline(it.at, it.first[6:])
		why := strings.TrimSpace(strings.Join(it.more, "\n"))
		if why == "" {
			l.problems.add(it.at, "the choice has no explanation in indented lines below it")
		} else {
			c.Why, _ = l.inline(it.at.down(1), why)
		}
		if c.Right {
			right++
		}
		q.Choices = append(q.Choices, c)
	}
	if right != 1 || len(q.Choices) < 3 {
		l.problems.add(
			s.at, "a choice question requires at least three choices, one marked [x]: got %d choices, %d marked",
			len(q.Choices), right,
		)
	}
}
