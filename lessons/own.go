package lessons

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/tokenbytoken/viz/infer/files"
)

// Limits on an instructor's own folder. The built-in course has about twenty files of at most 60
// KB.
const (
	maxOwnFiles = 200
	maxOwnBytes = 256 << 10 // in one file
	maxOwnAll   = 4 << 20   // in all files
	maxOwnLine  = 8 << 10   // bytes
)

// ownSpecial lists the files of an instructor's folder that are neither lessons nor walkthroughs,
// in reading order.
var ownSpecial = []string{"references.md", "glossary.md", "starts.md", "quiz.md", "cards.md"}

// LoadWith is like [Load], but adds the lessons, questions, cards, terms, references, starts and
// walkthroughs of a folder after the built-in ones, in the same form. They may link to built-in
// parts and to each other. An empty dir adds nothing.
//
// A lesson's file is named NN-slug.md, and its front matter has number: NN, where NN is at least 1.
// The lessons come after the last built-in lesson. A question or card need not have an outcome.
// Hidden files and README.md are ignored. Any other file is an error, as is a file that is outside
// the folder, not regular, or too large.
func LoadWith(dir string) (*Course, error) {
	if dir == "" {
		return Load()
	}
	return read(builtIn(), func(l *loader) error {
		texts := l.readOwn(dir)
		if len(l.problems.list) == 0 { // otherwise, most errors would be about links to files that were not read
			l.loadOwn(texts)
		}
		return l.problems.in(dir)
	})
}

// LoadTexts is like [LoadWith], but takes the contents of the files, keyed by path relative to the
// folder, as [ReadOwn] returns them.
func LoadTexts(texts map[string]string) (*Course, error) {
	return read(builtIn(), func(l *loader) error {
		for name, text := range texts {
			l.plainText(name, text)
		}
		if len(l.problems.list) == 0 {
			l.loadOwn(texts)
		}
		return l.problems.err()
	})
}

// ReadOwn reads the files of an instructor's folder for [LoadTexts]. If dir is empty, it returns
// nil. It checks that the files are plain text within the limits, but does not parse them.
func ReadOwn(dir string) (map[string]string, error) {
	if dir == "" {
		return nil, nil
	}
	l := newLoader(nil, MathTable{})
	texts := l.readOwn(dir)
	return texts, l.problems.in(dir)
}

// readOwn returns the contents of the files in a folder, keyed by name.
func (l *loader) readOwn(dir string) map[string]string {
	texts := map[string]string{}
	folder, err := files.OpenInside(dir)
	if err != nil {
		l.problems.add(position{".", 1}, "the folder %v", reason(err))
		return texts
	}
	defer folder.Close()
	all := 0
	for _, name := range l.ownNames(folder) {
		data, err := folder.Read(name, maxOwnBytes)
		if err != nil {
			l.problems.add(position{name, 1}, "the file %v", reason(err))
			continue
		}
		if all += len(data); all > maxOwnAll {
			l.problems.add(position{".", 1}, "the files exceed the limit of %d bytes in total", maxOwnAll)
			break
		}
		if texts[name], err = files.Text(data); err != nil {
			texts[name] = string(data)
			if !errors.As(err, new(*files.UTF8Error)) { // plainText reports the lines of UTF-8 errors
				l.problems.add(position{name, 1}, "the file %v", err)
				continue
			}
		}
		l.plainText(name, texts[name])
	}
	return texts
}

// ownNames returns the sorted names of the files to read: the files in the folder and the
// walkthroughs in its subfolder.
func (l *loader) ownNames(folder *files.Inside) (names []string) {
	for _, in := range []string{".", walkFolder} {
		entries, err := folder.Names(in, maxOwnFiles)
		if in == walkFolder && errors.Is(err, fs.ErrNotExist) {
			continue // the folder has no walkthroughs
		}
		if err != nil {
			l.problems.add(position{in, 1}, "the folder %v", reason(err))
		}
		for _, e := range entries {
			name := path.Join(in, e.Name())
			if strings.HasPrefix(e.Name(), ".") || e.Name() == "README.md" || name == walkFolder {
				continue
			}
			if in == walkFolder && !strings.HasSuffix(name, ".md") {
				l.problems.add(position{name, 1}, "a walkthrough must be a file named NAME.md")
				continue
			}
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// reason reduces a file system error to its cause, without the path and the system call. The result
// continues a sentence that begins with "the file".
func reason(err error) error {
	var p *fs.PathError
	if !errors.As(err, &p) {
		return err
	}
	if strings.Contains(p.Err.Error(), "escapes") { // package os has no name for this error
		return errors.New("is a link that leads outside the folder")
	}
	if errno := new(syscall.Errno); errors.As(p.Err, errno) {
		return fmt.Errorf("could not be read: %w", p.Err)
	}
	return p.Err
}

// plainText reports contents that are not allowed in any file, such as control characters, with
// their line.
func (l *loader) plainText(name, text string) {
	n := 0
	for line := range strings.Lines(text) {
		n++
		at := position{name, n}
		if len(line) > maxOwnLine {
			l.problems.add(at, "the line has more than %d bytes", maxOwnLine)
		}
		if !utf8.ValidString(line) {
			l.problems.add(at, "the line is not valid UTF-8")
		}
		for _, r := range strings.TrimRight(line, "\r\n") {
			if r < ' ' && r != '\t' || r == 0x7f {
				l.problems.add(at, "unexpected control character %U", r)
			}
		}
	}
}

// loadOwn adds the contents of the texts in the same two passes as load.
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
			l.problems.add(position{name, 1}, "the file is neither a lesson (NN-slug.md), one of %s, nor in %s",
				strings.Join(ownSpecial, ", "), walkFolder)
			continue
		}
		docs[name] = split(name, text, l.problems)
	}
	for _, name := range ownSpecial {
		if docs[name] == nil {
			docs[name] = &document{at: position{name, 1}}
		}
	}
	slices.Sort(lessonFiles)
	l.readParts(docs, lessonFiles, func() {})
	l.ownWalks(texts)
}

// ownWalks reads the walkthroughs among the texts, ordered by name.
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

// isLessonFile reports whether a name has the form of a lesson file's name, NN-slug.md.
func isLessonFile(name string) bool {
	return len(name) > len("00-.md") && isDigit(name[0]) && isDigit(name[1]) && name[2] == '-' &&
		strings.HasSuffix(name, ".md")
}

// makeOwn marks a lesson as an instructor's own and places it after the other lessons.
func (l *loader) makeOwn(d *document, lesson *Lesson) {
	for _, key := range d.order {
		if strings.HasPrefix(key, "outcomes.") {
			l.problems.add(d.front[key].at, "outcomes must be a list of names from the built-in course, such as [loop]")
		}
	}
	lesson.Own = true
	lesson.Number = len(l.course.Lessons)
}
