package lessons

import (
	"fmt"
	"strconv"
	"strings"
)

// difficulties lists the allowed values of a lesson's difficulty.
var difficulties = []string{"gentle", "standard", "harder"}

// reserved lists the names under /learn/ that other pages use, which lessons therefore cannot have.
var reserved = []string{"turn", "visit", "check", "widget", "sentence"}

// announceLesson registers a lesson, its sections and its widgets as link
// targets.
func (l *loader) announceLesson(d *document) {
	slug := d.front["slug"].value
	if !l.checkID(d.front["slug"].at.or(d.at), slug) {
		return
	}
	if want := d.at.file[len("00-") : len(d.at.file)-len(".md")]; slug != want {
		l.problems.add(d.front["slug"].at, "the slug %q does not match the file name", slug)
	}
	if contains(reserved, slug) {
		l.problems.add(d.front["slug"].at, "/learn/%s is reserved for another page", slug)
	}
	l.target(d.at, "learn:"+slug)
	for _, s := range d.sections {
		if l.checkID(s.at, s.attrs.id) {
			l.target(s.at, "learn:"+slug+"#"+s.attrs.id)
		}
		for _, p := range s.parts {
			if p.directive == "widget" {
				a, err := parseAttrs(p.words)
				if id := a.keys["id"]; err == nil && l.checkID(p.at, id) {
					l.target(p.at, "learn:"+slug+"#"+id)
					l.course.widgets[slug+"#"+id] = true
				}
			}
		}
	}
}

// or returns p, or other if p is empty.
func (p position) or(other position) position {
	if p.file == "" {
		return other
	}
	return p
}

// field returns a field of the front matter. It reports a problem if the field is empty.
func (l *loader) field(d *document, key string) field {
	f, ok := d.front[key]
	if !ok || f.value == "" {
		l.problems.add(f.at.or(d.at), "the front matter is missing %q", key)
		return field{"", d.at}
	}
	return f
}

func (l *loader) count(d *document, key string, low, high int) int {
	f := l.field(d, key)
	n, err := strconv.Atoi(f.value)
	if f.value != "" && (err != nil || n < low || n > high) {
		l.problems.add(f.at, "%s is %q; want an integer from %d to %d", key, f.value, low, high)
	}
	return n
}

// readLesson builds a lesson from its file.
func (l *loader) readLesson(d *document) {
	lesson := &Lesson{
		Slug: l.field(d, "slug").value, Number: l.count(d, "number", 0, 99), Minutes: l.count(d, "minutes", 1, 120),
	}
	for _, key := range d.order {
		if !contains(
			[]string{
				"title", "name", "slug", "number", "minutes", "difficulty", "kicker", "lead", "goal", "outcomes",
				"picture",
			},
			strings.Split(key, ".")[0],
		) {
			l.problems.add(d.front[key].at, "unknown front matter key %q", key)
		}
	}
	if f, ok := d.front["number"]; ok && f.value != "" && d.at.file[:2] != fmt.Sprintf("%02d", lesson.Number) {
		l.problems.add(f.at, "number %d does not match the file name", lesson.Number)
	}
	title, lead := l.field(d, "title"), l.field(d, "lead")
	_, lesson.Title = l.inline(title.at, title.value)
	lesson.Name = lesson.Title
	if name, ok := d.front["name"]; ok {
		_, lesson.Name = l.inline(name.at, name.value)
	}
	l.lesson = lesson
	defer func() { l.lesson = nil }()
	lesson.Lead, lesson.LeadText = l.inline(lead.at, lead.value)
	if goal, ok := d.front["goal"]; ok {
		lesson.Goal, _ = l.inline(goal.at, l.field(d, "goal").value)
	}
	difficulty := l.field(d, "difficulty")
	if lesson.Difficulty = difficulty.value; !contains(difficulties, difficulty.value) {
		l.problems.add(
			difficulty.at, "unknown difficulty %q; want one of %s", difficulty.value, strings.Join(difficulties, ", "),
		)
	}
	lesson.kicker = d.front["kicker"].value
	if l.own {
		l.makeOwn(d, lesson)
	}
	lesson.Sentence, l.states = l.sentence(d), 0
	lesson.Outcomes = l.lessonOutcomes(d)
	if !d.intro.blank() {
		l.problems.add(d.intro.at, "text before the first heading ## Title {#id}")
	}
	for _, s := range d.sections {
		lesson.Sections = append(lesson.Sections, l.readSection(lesson, s))
	}
	if len(lesson.Sections) == 0 {
		l.problems.add(d.at, "the lesson has no sections")
	}
	l.where["lesson:"+lesson.Slug] = d.at
	l.course.Lessons = append(l.course.Lessons, lesson)
	l.course.lessons[lesson.Slug] = lesson
}

// lessonOutcomes parses `outcomes: [loop, cache]`.
func (l *loader) lessonOutcomes(d *document) (list []string) {
	f := d.front["outcomes"]
	for _, id := range f.list() {
		if !l.targets["outcome:"+id] {
			l.problems.add(f.at, "unknown outcome %q", id)
		}
		list = append(list, id)
	}
	return list
}

// readSection turns a section's parts into blocks.
func (l *loader) readSection(lesson *Lesson, raw *rawSection) *Section {
	s := &Section{ID: raw.attrs.id, Lesson: lesson.Slug}
	l.attrsOf(raw)
	s.TitleHTML, s.Title = l.inline(raw.at, raw.title)
	if s.Title == "" {
		l.problems.add(raw.at, "the section has no title")
	}
	for _, p := range raw.parts {
		switch p.directive {
		case "":
			if !p.blank() {
				html, text := l.blockText(p.at, p.text())
				if s.text += text + "\n"; s.opening == "" {
					s.opening, _, _ = strings.Cut(text, "\n")
				}
				s.Blocks = append(s.Blocks, Prose{html})
			}
		case "note":
			if p.words != "" {
				l.problems.add(p.at, "::: note takes no arguments")
			}
			lesson.Notes = append(lesson.Notes, Note{s.ID, l.body(s, p)})
		case "notice":
			l.notice(s, p)
		default:
			if b := l.directive(s, p); b != nil {
				s.Blocks = append(s.Blocks, b)
			}
		}
	}
	if len(s.Blocks) == 0 {
		l.problems.add(raw.at, "the section is empty")
	}
	l.course.sections[s.Key()] = s
	return s
}

// body renders the text of a directive in a section. It reports a problem if the text is empty.
func (l *loader) body(s *Section, p block) string {
	if p.blank() {
		l.problems.add(p.at, "the directive %q is empty", p.directive)
		return ""
	}
	html, text := l.blockText(p.body(), p.text())
	s.text += text + "\n"
	return html
}

// notice adds the text to the preceding widget. If there is none, the text becomes a separate
// block.
func (l *loader) notice(s *Section, p block) {
	html := l.body(s, p)
	if p.words != "" {
		l.problems.add(p.at, "::: notice takes no arguments")
	}
	if n := len(s.Blocks); n > 0 {
		if w, ok := s.Blocks[n-1].(Widget); ok && w.Notice == "" {
			w.Notice = html
			s.Blocks[n-1] = w
			return
		}
	}
	s.Blocks = append(s.Blocks, Aside{Kind: "notice", HTML: html})
}

// directive returns the block for a directive, such as a ::: widget, a ::: check or an aside.
func (l *loader) directive(s *Section, p block) Block {
	switch p.directive {
	case "slip", "pitfall", "care", "small-model":
		a := Aside{Kind: p.directive}
		if p.words != "" {
			_, a.Title = l.inline(p.at, p.words)
			s.text += a.Title + ". "
		}
		a.HTML = l.body(s, p)
		return a
	case "numbers":
		fold := Fold{HTML: l.body(s, p)}
		_, fold.Of = l.inline(p.at, p.words)
		return fold
	case "more":
		_, title := l.inline(p.at, p.words)
		if title == "" {
			l.problems.add(p.at, "::: more requires a title")
		}
		return Fold{Title: title, HTML: l.body(s, p)}
	case "widget":
		return l.widget(s, p)
	case "picture":
		return l.picture(s, p)
	case "check":
		if !p.blank() {
			l.problems.add(p.at, "::: check must be empty; its question belongs in quiz.md")
		}
		q := l.course.questions[p.words]
		if q == nil {
			l.problems.add(p.at, "unknown question %q", p.words)
			return nil
		}
		l.targets["asked:"+q.ID] = true
		return Check{q}
	}
	l.problems.add(
		p.at, "unknown directive %q; want widget, picture, notice, numbers, more, note, check, slip, pitfall, care "+
			"or small-model",
		p.directive,
	)
	return nil
}
