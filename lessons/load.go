package lessons

import (
	"errors"
	"fmt"
	"io/fs"
	"sort"
	"strings"

	"github.com/tokenbytoken/viz/infer/languages"
	"github.com/tokenbytoken/viz/infer/terms"
)

// Load reads and checks the built-in course, in English and in all languages into which it is
// translated. Its error joins a *[Problem] for each problem.
func Load() (*Course, error) { return Read(builtIn()) }

// builtIn returns the folders of the built-in course by language.
func builtIn() map[string]fs.FS {
	folders := map[string]fs.FS{}
	for _, tag := range languages.Tags() {
		folder, err := languages.Course(tag)
		if err != nil {
			panic(err) // cannot happen: the course is embedded
		}
		folders[tag] = folder
	}
	return folders
}

// Read is like [Load], but reads the given folders, one for each language. English is required.
func Read(folders map[string]fs.FS) (*Course, error) { return read(folders) }

// read reads the course from one folder per language. For each language, it calls the functions in
// `more`, which add to the course.
func read(folders map[string]fs.FS, more ...func(*loader) error) (*Course, error) {
	table, err := readMath(mathJSON)
	if err != nil {
		return nil, err
	}
	in := func(tag string) (*Course, error) {
		l := newLoader(folders[tag], table)
		l.course.Tag, l.words = tag, terms.LanguageOf(tag)
		return load(l, more...)
	}
	if folders[languages.English] == nil {
		return nil, errors.New("the course has no English folder")
	}
	english, err := in(languages.English)
	if err != nil {
		return nil, err
	}
	for tag := range folders {
		if tag == languages.English {
			continue
		}
		c, err := in(tag)
		if err != nil {
			return nil, fmt.Errorf("the course in language %q: %w", tag, err)
		}
		english.translations = append(english.translations, c)
	}
	return english, nil
}

// load reads a course, and calls the functions in `more` to add to it.
func load(l *loader, more ...func(*loader) error) (*Course, error) {
	l.load()
	if err := l.problems.err(); err != nil {
		return nil, err
	}
	for _, add := range more {
		if err := add(l); err != nil {
			return nil, err
		}
	}
	l.course.index, l.course.loader = newIndex(l.course), l
	return l.course, nil
}

// A loader holds the state of loading a course.
type loader struct {
	files      fs.FS
	math       MathTable
	words      *terms.Language // the program's own texts for the course
	own        bool            // whether an instructor's folder is being read, after the built-in course
	collecting bool            // formulas are collected, not rendered
	partial    bool            // files may be missing and references uncited, for tests
	outside    bool            // links to other sites are currently allowed

	lesson *Lesson // the lesson being read; nil outside of lessons, where a term is a plain link
	states int     // number of states of the lesson's picture so far

	problems   *problems
	course     *Course
	targets    map[string]bool // link targets: "learn:slug#id", "term:id", …
	references map[string]Reference
	cited      map[string]bool
	formulas   []Formula
	figures    []figureUse
	where      map[string]position // positions of lessons, questions, cards and outcomes, for later checks
	onPiece    func(*fragment)     // called for every fragment; for tests that inspect the text
}

func newLoader(files fs.FS, table MathTable) *loader {
	return &loader{
		files: files, math: table, words: terms.English, problems: &problems{},
		course: &Course{
			Tag:     languages.English,
			lessons: map[string]*Lesson{}, sections: map[string]*Section{}, questions: map[string]*Question{},
			cards: map[string]*Card{}, terms: map[string]*Term{}, starts: map[string]*LoopStart{},
			widgets: map[string]bool{},
		},
		targets: map[string]bool{}, references: map[string]Reference{}, cited: map[string]bool{},
		where: map[string]position{},
	}
}

// special lists the files that are not lessons, in reading order.
var special = []string{
	"references.md", "glossary.md", "starts.md", "quiz.md", "cards.md", "reference.md", "checked.md",
	"outcomes.md",
}

// load reads all files, starting with the link targets.
func (l *loader) load() {
	docs, lessonFiles := l.split()
	l.drills()
	l.readParts(docs, lessonFiles, func() {
		l.announce(docs["reference.md"], "reference:")
		l.announce(docs["checked.md"], "checked:")
		l.readOutcomes(docs, lessonFiles)
	})
	l.course.Sheet = l.readSheet(docs["reference.md"])
	l.course.Checked = l.readSheet(docs["checked.md"])
	l.readWalks()
	l.readPlaces(docs["outcomes.md"])
	l.whole()
}

// readParts reads the files that both the built-in course and an instructor's folder may have. It
// reads the link targets, calls the function between, and then reads the texts.
func (l *loader) readParts(docs map[string]*document, lessonFiles []string, between func()) {
	l.readReferences(docs["references.md"])
	for _, name := range lessonFiles {
		l.announceLesson(docs[name])
	}
	l.announce(docs["glossary.md"], "term:")
	l.announce(docs["starts.md"], "loop:")
	l.announce(docs["quiz.md"], "quiz:")
	l.announce(docs["cards.md"], "card:")
	between()
	l.readTerms(docs["glossary.md"])
	l.readStarts(docs["starts.md"])
	l.readQuestions(docs["quiz.md"])
	for _, name := range lessonFiles {
		l.readLesson(docs[name])
	}
	l.readCards(docs["cards.md"])
}

// split reads all files and splits each into its parts. The lessons' files are named NN-slug.md and
// ordered by name.
func (l *loader) split() (docs map[string]*document, lessonFiles []string) {
	docs = map[string]*document{}
	entries, err := fs.ReadDir(l.files, ".")
	if err != nil {
		l.problems.add(position{".", 1}, "%v", err)
	}
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() && name == walkFolder {
			continue // read by readWalks
		}
		data, err := fs.ReadFile(l.files, name)
		if err != nil {
			l.problems.add(position{name, 1}, "%v", err)
			continue
		}
		docs[name] = split(name, string(data), l.problems)
		if isLessonFile(name) {
			lessonFiles = append(lessonFiles, name)
		} else if !contains(special, name) {
			l.problems.add(
				position{name, 1}, "the file is neither a lesson (NN-slug.md) nor one of %s",
				strings.Join(special, ", "),
			)
		}
	}
	for _, name := range special {
		if docs[name] == nil {
			docs[name] = &document{at: position{name, 1}}
			if !l.partial {
				l.problems.add(position{name, 1}, "missing file")
			}
		}
	}
	sort.Strings(lessonFiles)
	return docs, lessonFiles
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// announce registers the sections of a file as link targets. A section's id is given as `{#id}`;
// without one, the heading itself is the id.
func (l *loader) announce(d *document, scheme string) {
	for _, s := range d.sections {
		if s.attrs.id == "" {
			s.attrs.id, s.title = s.title, ""
		}
		if l.checkID(s.at, s.attrs.id) {
			l.target(s.at, scheme+s.attrs.id)
		}
	}
}

func (l *loader) checkID(at position, id string) bool {
	if !idForm.MatchString(id) {
		l.problems.add(at, "invalid id %q; want lowercase letters, digits and single hyphens", id)
		return false
	}
	return true
}

// plainParts returns a section's Markdown, for a file without directives.
func (l *loader) plainParts(s *rawSection) (at position, text string) {
	at = s.at.down(1)
	for i, p := range s.parts {
		if p.directive != "" {
			l.problems.add(p.at, "directives are only allowed in lessons")
		} else if i == 0 {
			at, text = p.at, p.text()
		}
	}
	if strings.TrimSpace(text) == "" {
		l.problems.add(s.at, "the section is empty")
	}
	return at, text
}

// known returns the outcome and the section named in a heading's attributes. It
// reports a problem if one does not exist.
func (l *loader) known(s *rawSection) (outcome, section string) {
	outcome, section = s.attrs.keys["outcome"], s.attrs.keys["section"]
	if !l.targets["outcome:"+outcome] && (outcome != "" || !l.own) {
		l.problems.add(s.at, "unknown outcome %q", outcome)
	}
	l.knownSection(s.at, section)
	return outcome, section
}

func (l *loader) knownSection(at position, section string) {
	if !strings.Contains(section, "#") || !l.targets["learn:"+section] {
		l.problems.add(at, "unknown section %q%s", section, l.nearest("learn:"+section))
	}
}

// attrsOf reports attributes that are not allowed in a heading.
func (l *loader) attrsOf(s *rawSection, allowed ...string) {
	if err := s.attrs.only(allowed...); err != nil {
		l.problems.add(s.at, "%v", err)
	}
	if len(s.attrs.words) > 0 {
		l.problems.add(s.at, "got %q, want #id or key=value", s.attrs.words[0])
	}
}
