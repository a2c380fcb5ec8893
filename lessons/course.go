package lessons

import (
	"context"
	"iter"
	"math/rand/v2"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/chat"
	"github.com/tokenbytoken/viz/infer/terms"
)

// A Course is the whole course, loaded and checked. It never changes after
// [Load], so it is safe for concurrent use.
type Course struct {
	Tag        string       // the tag of its language, such as "en"
	Lessons    []*Lesson    // in order of their numbers
	Outcomes   []Outcome    // what learners can do at the end
	Terms      []Term       // the glossary, by name
	Questions  []*Question  // the quiz, in file order
	Cards      []*Card      // the flashcards, in file order
	References []Reference  // the cited works, in file order
	Sheet      *Sheet       // the one-page reference
	Checked    *Sheet       // recomputed figures that differ from other sources
	Starts     []*LoopStart // the runs that lessons link to
	Walks      []*Walk      // scripts that lead a class or a single learner through the loop

	lessons   map[string]*Lesson
	sections  map[string]*Section // by "slug#id"
	questions map[string]*Question
	cards     map[string]*Card
	terms     map[string]*Term
	starts    map[string]*LoopStart
	widgets   map[string]bool // by "slug#id"
	index     *index
	loader    *loader // for scripts that are read later; see [Course.ReadWalk]

	translations []*Course // the same course in other languages; see [Course.In]
}

// In returns the course in the language of a context ([terms.In]). See [Course.Translated].
func (c *Course) In(ctx context.Context) *Course { return c.Translated(terms.In(ctx).Tag) }

// Translated returns the course in the language with the given tag, or the course itself if it is
// not translated into that language. All ids, numbers and addresses are the same in every language.
func (c *Course) Translated(tag string) *Course {
	for _, t := range c.translations {
		if t.Tag == tag {
			return t
		}
	}
	return c
}

// A Lesson is one page of the course.
type Lesson struct {
	Slug       string // its address is /learn/SLUG
	Title      string // a question or a claim
	Name       string // its topic in one to three words, for lists of lessons
	Lead       string // HTML of one sentence, without a paragraph around it
	LeadText   string // the same as plain text
	Goal       string // HTML: what learners can do after the lesson, in one sentence; may be empty
	Number     int    // its position in the course, from 0 (the overview)
	Own        bool   // an instructor's own lesson, from the folder of [LoadWith]
	Minutes    int    // estimated reading time
	Difficulty string // "gentle", "standard" or "harder"
	Outcomes   []string
	Sections   []*Section
	Notes      []Note
	Terms      []string // ids of the terms whose notes open in place, in order of first use
	Drills     []string // names of the drills that the lesson links to, in order of first link
	Sentence   string   // the sentence shown by the picture beside the text

	kicker string // the line above the title, if the lesson has its own
}

// Href returns the lesson's address.
func (l *Lesson) Href() string { return "/learn/" + l.Slug }

// Kicker returns the small line above the lesson's title: "Lesson 3, about 8 minutes".
func (l *Lesson) Kicker(in *terms.Language) string {
	key := "lessons.kicker"
	switch {
	case l.kicker != "":
		return l.kicker
	case l.Own:
		key = "lessons.kicker.own"
	case l.Number == 0 && l.Difficulty == "harder":
		key = "lessons.kicker.overview.harder"
	case l.Number == 0:
		key = "lessons.kicker.overview"
	case l.Difficulty == "harder":
		key = "lessons.kicker.harder"
	}
	return in.T(key, "minutes", l.Minutes, "n", l.Number)
}

// A Section is a part of a lesson under its own heading.
type Section struct {
	ID, Title string
	TitleHTML string // the heading with its tokens and formulas
	Lesson    string // slug
	Blocks    []Block

	text    string // the section's plain text, for searching
	opening string // its first paragraph as plain text
}

// Key returns "slug#id", which identifies the section in progress, questions and cards.
func (s *Section) Key() string { return s.Lesson + "#" + s.ID }

// Href returns the section's address.
func (s *Section) Href() string { return "/learn/" + s.Key() }

// A Block is a part of a section: a [Prose], [Fold], [Widget], [Picture], [Check] or [Aside].
type Block interface{ block() }

// Prose is running text as safe HTML. It is rendered from Markdown that must not contain HTML.
// Formulas are MathML, and figures are computed.
type Prose struct{ HTML string }

// A Fold is text behind a button, initially closed: numbers and formulas that a reader may skip. Of
// briefly describes the contents and may be empty. Title is empty for numbers.
type Fold struct{ Title, Of, HTML string }

// A Widget is a live experiment on the engine.
type Widget struct {
	Kind    WidgetKind
	ID      string            // unique in the lesson
	Ask     string            // the question that learners answer before they see the result; may be empty
	Params  map[string]string // checked by the kind's rules: see [WidgetKind]
	Caption string            // HTML
	Notice  string            // HTML: what to notice; may be empty
}

// A Check asks one question at the end of a section.
type Check struct{ Question *Question }

// An Aside is a remark that is set apart from the text. Kind is "slip" (a common mistake),
// "pitfall", "care" (a claim that is only partly true), "small-model" (something that a small model
// cannot do) or "notice". Title may be empty.
type Aside struct{ Kind, Title, HTML string }

func (Prose) block()  {}
func (Fold) block()   {}
func (Widget) block() {}
func (Check) block()  {}
func (Aside) block()  {}

// A Note is a remark in the margin next to a section.
type Note struct{ Section, HTML string }

// An Outcome is something that a learner can do after the course, with links to the places where it
// is explained, tried out and practiced, and the ids of its cards.
type Outcome struct {
	ID, Text, HTML string
	Explanation    []string // hrefs of sections
	Experiment     []string // hrefs of widgets: /learn/SLUG#WIDGET
	Exercise       []string // hrefs of drills, and of questions as /quiz?all=1#ID
	Cards          []string // ids of cards
}

// A Term is an entry of the glossary.
type Term struct {
	ID, Name   string
	HTML, Text string // the term's meaning
	Where      string // href of the section that explains it
}

// A Question has the kind "recall" (learners write an answer and compare it with the rubric) or
// "choice" (exactly one choice is right, and every choice has an explanation).
type Question struct {
	ID, Kind   string
	Prompt     string // HTML
	PromptText string
	Choices    []Choice
	Answer     string   // HTML; for a choice question, the response to the right choice
	Rubric     []string // HTML: points that a good answer makes
	Outcome    string
	Section    string // "slug#id"
}

// Shuffled returns the indexes of the choices in an order that depends only on the seed, so no
// position in the list is right more often than another.
func (q *Question) Shuffled(seed uint64) []int {
	return rand.New(rand.NewPCG(seed, uint64(len(q.Choices)))).Perm(len(q.Choices))
}

// A Choice is one option of a choice question.
type Choice struct {
	HTML  string
	Text  string // the same as plain text
	Right bool
	Why   string // HTML: why it is right or wrong
}

// A Card is one flashcard, as HTML and as plain text for export and print.
type Card struct {
	ID                  string
	Front, Back         string
	FrontText, BackText string
	Outcome, Section    string
}

// A Reference is a cited work.
type Reference struct {
	ID, Short string // "vaswani2017", "Vaswani et al. 2017"
	HTML      string
	Text      string
}

// A Sheet is a page of sections that is not a lesson.
type Sheet struct {
	Title, Lead string // Lead is HTML
	Sections    []*Section
}

// A LoopStart is a run that a lesson opens in the loop: a prompt, the settings
// and the stage to show.
type LoopStart struct {
	Key, Title string
	Prompt     string
	// Chat is a conversation for the loop's chat form. Opening it does not start a run. If Chat is
	// set, Prompt has the same text as plain lines.
	Chat     []chat.Message
	Settings infer.Settings
	Step     int    // the step to show, from 1; 0 also means the first
	Stage    string // "forward", "logits", "softmax", "filter", "sample", "append", "cache"; "" is forward
}

// Experiments iterates over the experiments of all lessons, with their lessons.
func (c *Course) Experiments() iter.Seq2[*Lesson, Widget] {
	return func(yield func(*Lesson, Widget) bool) {
		for _, l := range c.Lessons {
			for _, s := range l.Sections {
				for _, b := range s.Blocks {
					if w, ok := b.(Widget); ok && !yield(l, w) {
						return
					}
				}
			}
		}
	}
}

// Lesson returns the lesson with the given slug, or nil.
func (c *Course) Lesson(slug string) *Lesson { return c.lessons[slug] }

// Section returns the section with the given key ("slug#id"), or nil.
func (c *Course) Section(key string) *Section { return c.sections[key] }

// Question returns the question with the given id, or nil.
func (c *Course) Question(id string) *Question { return c.questions[id] }

// Card returns the card with the given id, or nil.
func (c *Course) Card(id string) *Card { return c.cards[id] }

// Term returns the term with the given id, or nil.
func (c *Course) Term(id string) *Term { return c.terms[id] }

// Start returns the linked run with the given key, or nil.
func (c *Course) Start(key string) *LoopStart { return c.starts[key] }
