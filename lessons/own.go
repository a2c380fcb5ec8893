package lessons

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tokenbytoken/viz/infer/files"
)

// Bounds of an instructor's own folder. The built-in course has some twenty files of
// at most 60 KB.
const (
	maxOwnFiles = 200
	maxOwnBytes = 256 << 10 // of one file
	maxOwnAll   = 4 << 20   // of all files
	maxOwnLine  = 8 << 10   // bytes
)

// ownSpecial are the files of an own folder that are neither lessons nor walkthroughs,
// in reading order.
var ownSpecial = []string{"references.md", "glossary.md", "starts.md", "quiz.md", "cards.md"}

// LoadWith is [Load] with the lessons, questions, cards, terms, references, starts and
// walkthroughs of a folder after the built-in ones, in the same form. They may link to
// everything built in and to each other. An empty dir adds nothing.
//
// A lesson's file is NN-slug.md with number: NN from 1 on; it comes after the last
// built-in lesson. An outcome may be left out of a question or card. Hidden files and
// README.md are not read, and any other file is an error: so is what lies outside the
// folder, is not a regular file, or is too large.
func LoadWith(language, dir string) (*Course, error) {
	if dir == "" {
		return Load(language)
	}
	return builtIn(language, func(l *loader) error {
		texts := l.readOwn(dir)
		if len(l.problems.list) == 0 { // of half a folder, most errors would be about links to the rest
			l.loadOwn(texts)
		}
		return l.problems.in(dir)
	})
}

// LoadTexts is [LoadWith] with the texts of the files in place of a folder, by their
// names below it, as [ReadOwn] returns them.
func LoadTexts(language string, texts map[string]string) (*Course, error) {
	return builtIn(language, func(l *loader) error {
		for name, text := range texts {
			l.plainText(name, text)
		}
		if len(l.problems.list) == 0 {
			l.loadOwn(texts)
		}
		return l.problems.err()
	})
}

// ReadOwn reads the files of an instructor's folder, for [LoadTexts]: nothing for "". It
// checks what the folder has, not what the files say.
func ReadOwn(dir string) (map[string]string, error) {
	if dir == "" {
		return nil, nil
	}
	l := newLoader(nil, MathTable{})
	texts := l.readOwn(dir)
	return texts, l.problems.in(dir)
}

// readOwn reads the files of a folder, by name.
func (l *loader) readOwn(dir string) map[string]string {
	texts := map[string]string{}
	folder, err := files.OpenInside(dir)
	if err != nil {
		l.problems.add(place{".", 1}, "%v", reason(err))
		return texts
	}
	defer folder.Close()
	all := 0
	for _, name := range l.ownNames(folder) {
		data, err := folder.Read(name, maxOwnBytes)
		if err != nil {
			l.problems.add(place{name, 1}, "the file %v", reason(err))
			continue
		}
		if all += len(data); all > maxOwnAll {
			l.problems.add(place{".", 1}, "the files have more than %d bytes together", maxOwnAll)
			break
		}
		if texts[name], err = files.Text(data); err != nil {
			texts[name] = string(data)
			if !errors.As(err, new(*files.UTF8Error)) { // plainText says in which lines
				l.problems.add(place{name, 1}, "the file %v", err)
				continue
			}
		}
		l.plainText(name, texts[name])
	}
	return texts
}

// ownNames are the files that count, sorted: those of the folder, and of walks in it.
func (l *loader) ownNames(folder *files.Inside) (names []string) {
	for _, in := range []string{".", walkFolder} {
		entries, err := folder.Names(in, maxOwnFiles)
		if in == walkFolder && errors.Is(err, fs.ErrNotExist) {
			continue // there are no walkthroughs
		}
		if err != nil {
			l.problems.add(place{in, 1}, "the folder %v", reason(err))
		}
		for _, e := range entries {
			name := path.Join(in, e.Name())
			if strings.HasPrefix(e.Name(), ".") || e.Name() == "README.md" || name == walkFolder {
				continue
			}
			if in == walkFolder && !strings.HasSuffix(name, ".md") {
				l.problems.add(place{name, 1}, "a walkthrough is a file NAME.md")
				continue
			}
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// reason is what an error of the file system says, without the path and the system call.
func reason(err error) error {
	var p *fs.PathError
	if !errors.As(err, &p) {
		return err
	}
	if strings.Contains(p.Err.Error(), "escapes") { // package os has no name for this error
		return errors.New("is a link that leads out of the folder")
	}
	return p.Err
}

// plainText checks what no file may have, with the line.
func (l *loader) plainText(name, text string) {
	n := 0
	for line := range strings.Lines(text) {
		n++
		at := place{name, n}
		if len(line) > maxOwnLine {
			l.problems.add(at, "the line has more than %d bytes", maxOwnLine)
		}
		if !utf8.ValidString(line) {
			l.problems.add(at, "the line is not valid UTF-8")
		}
		for _, r := range strings.TrimRight(line, "\r\n") {
			if r < ' ' && r != '\t' || r == 0x7f {
				l.problems.add(at, "a control character, %U", r)
			}
		}
	}
}

// loadOwn adds what the texts hold, in the two passes of load.
func (l *loader) loadOwn(texts map[string]string) {
	l.own = true
	docs := map[string]*document{}
	var lessonFiles []string
	for name, text := range texts {
		switch {
		case path.Dir(name) == walkFolder:
			continue
		case isLessonFile(name):
			lessonFiles = append(lessonFiles, name)
		case !contains(ownSpecial, name):
			l.problems.add(place{name, 1}, "the file is neither a lesson (NN-slug.md), one of %s, nor in %s",
				strings.Join(ownSpecial, ", "), walkFolder)
			continue
		}
		docs[name] = split(name, text, l.problems)
	}
	for _, name := range ownSpecial {
		if docs[name] == nil {
			docs[name] = &document{at: place{name, 1}}
		}
	}
	slices.Sort(lessonFiles)
	l.readParts(docs, lessonFiles, func() {})
	l.ownWalks(texts)
}

// ownWalks reads the walkthroughs among the texts, in the order of their names.
func (l *loader) ownWalks(texts map[string]string) {
	var names []string
	for name := range texts {
		if path.Dir(name) == walkFolder {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		l.readWalk(split(name, texts[name], l.problems))
	}
}

// isLessonFile reports whether a name is that of a lesson: NN-slug.md.
func isLessonFile(name string) bool {
	return len(name) > len("00-.md") && isDigit(name[0]) && isDigit(name[1]) && name[2] == '-' &&
		strings.HasSuffix(name, ".md")
}

// makeOwn gives an instructor's lesson its place after the others.
func (l *loader) makeOwn(d *document, lesson *Lesson) {
	for _, key := range d.order {
		if strings.HasPrefix(key, "outcomes.") {
			l.problems.add(d.front[key].at, "outcomes are those of the built-in course: outcomes: [loop]")
		}
	}
	lesson.Own = true
	if _, given := d.front["kicker"]; !given {
		lesson.Kicker = fmt.Sprintf("From your instructor, about %d minutes", lesson.Minutes)
	}
	lesson.Number = len(l.course.Lessons)
}
