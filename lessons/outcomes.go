package lessons

import (
	"cmp"
	"slices"
	"strings"
)

// readOutcomes reads the outcomes, lines of the form `id: text` under
// `outcomes:` in a lesson's front matter.
func (l *loader) readOutcomes(docs map[string]*document, lessonFiles []string) {
	for _, name := range lessonFiles {
		d := docs[name]
		for _, key := range d.order {
			id, ok := strings.CutPrefix(key, "outcomes.")
			if !ok || !l.checkID(d.front[key].at, id) {
				continue
			}
			f := d.front[key]
			l.target(f.at, "outcome:"+id)
			l.where["outcome:"+id] = f.at
			o := Outcome{ID: id}
			o.HTML, o.Text = l.inline(f.at, f.value)
			l.course.Outcomes = append(l.course.Outcomes, o)
		}
	}
}

// readPlaces reads outcomes.md: for each outcome, a heading `## ID` and lines such as `-
// explanation: slug#id, slug#id`. Other lines list experiments (widgets), exercises (practice:KEY,
// quiz:ID) and cards (ids).
func (l *loader) readPlaces(d *document) {
	for _, s := range d.sections {
		l.attrsOf(s)
		id := cmp.Or(s.attrs.id, s.title)
		n := slices.IndexFunc(l.course.Outcomes, func(o Outcome) bool { return o.ID == id })
		if n < 0 {
			l.problems.add(s.at, "unknown outcome %q", id)
			continue
		}
		at, text := l.plainParts(s)
		for _, it := range l.items(block{at: at, lines: strings.Split(text, "\n")}, isItem) {
			l.outcomePlaces(&l.course.Outcomes[n], it)
		}
	}
}

func (l *loader) outcomePlaces(o *Outcome, it item) {
	name, list, _ := strings.Cut(strings.TrimPrefix(it.first, "- "), ":")
	for _, w := range strings.Split(list, ",") {
		w = strings.TrimSpace(w)
		switch name {
		case "explanation":
			l.knownSection(it.at, w)
			if l.course.widgets[w] {
				l.problems.add(it.at, "%q is a widget, not a section", w)
			}
			o.Explanation = append(o.Explanation, "/learn/"+w)
		case "experiment":
			if !l.course.widgets[w] {
				l.problems.add(it.at, "unknown widget %q", w)
			}
			o.Experiment = append(o.Experiment, "/learn/"+w)
		case "exercise":
			href, ok := l.resolve(w)
			if c := canonical(w); !ok || !strings.HasPrefix(c, "practice:") && !strings.HasPrefix(c, "quiz:") {
				l.problems.add(it.at, "%q is neither a drill (practice:KEY) nor a question (quiz:ID)", w)
			}
			o.Exercise = append(o.Exercise, href)
		case "card":
			if l.course.cards[w] == nil {
				l.problems.add(it.at, "unknown card %q", w)
			}
			o.Cards = append(o.Cards, w)
		default:
			l.problems.add(it.at, "unknown line %q in an outcome; want explanation, experiment, exercise or card", name)
		}
	}
}

// whole checks the rules that concern the whole course: every outcome has an explanation, an
// experiment, an exercise and a card, every reference is cited, no two lessons have the same
// number, and each outcome's cards belong to it.
func (l *loader) whole() {
	for _, o := range l.course.Outcomes {
		for what, list := range map[string][]string{
			"explanation": o.Explanation, "experiment": o.Experiment, "exercise": o.Exercise, "card": o.Cards,
		} {
			if len(list) == 0 {
				l.problems.add(l.where["outcome:"+o.ID], "the outcome %q has no %s in outcomes.md", o.ID, what)
			}
		}
		for _, id := range o.Cards {
			if c := l.course.cards[id]; c != nil && c.Outcome != o.ID {
				l.problems.add(
					l.where["outcome:"+o.ID], "the card %q belongs to the outcome %q, not to %q", id, c.Outcome, o.ID,
				)
			}
		}
	}
	if !l.partial {
		for _, r := range l.course.References {
			if !l.cited[r.ID] {
				l.problems.add(l.where["ref:"+r.ID], "the reference %q is never cited", r.ID)
			}
		}
	}
	for i, lesson := range l.course.Lessons {
		if lesson.Number != i {
			l.problems.add(
				l.where["lesson:"+lesson.Slug], "lessons must be numbered from 0 without gaps: got %d, want %d",
				lesson.Number, i,
			)
		}
	}
}
