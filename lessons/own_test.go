package lessons

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/tokenbytoken/viz/infer/terms"
)

// TestOwnLessonsFromWindows: files in the forms that Windows editors and shells save (with byte
// order marks, with CRLF, or in UTF-16) give the same course as plain UTF-8 files.
func TestOwnLessonsFromWindows(t *testing.T) {
	t.Parallel()
	want, err := ReadOwn(ownExample)
	if err != nil {
		t.Fatal(err)
	}
	course, err := LoadTexts(want)
	if err != nil {
		t.Fatal(err)
	}
	for name, write := range map[string]func(string) []byte{
		"a mark and CRLF": func(s string) []byte { return []byte("\ufeff" + strings.ReplaceAll(s, "\n", "\r\n")) },
		"UTF-16": func(s string) []byte {
			var data []byte
			for _, unit := range utf16.Encode([]rune("\ufeff" + s)) {
				data = binary.LittleEndian.AppendUint16(data, unit)
			}
			return data
		},
	} {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, walkFolder), 0o700); err != nil {
			t.Fatal(err)
		}
		for file, text := range want {
			if err := os.WriteFile(filepath.Join(dir, file), write(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		got, err := LoadWith(dir)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		last := len(course.Lessons) - 1
		if !reflect.DeepEqual(got.Lessons[last], course.Lessons[last]) || len(got.Walks) != len(course.Walks) ||
			len(got.Questions) != len(course.Questions) || len(got.Cards) != len(course.Cards) {
			t.Errorf("%s: got %d questions, %d cards, %d walks and %+v; want the example's", name,
				len(got.Questions), len(got.Cards), len(got.Walks), got.Lessons[last])
		}
	}
}

// ownExample is the example folder that the README links to.
const ownExample = "../testdata/lessons"

// TestOwnLessonsFollowTheCourse: the example's lesson comes after the built-in course, and the
// links, figures, terms, questions, cards, starts and walkthroughs of both are found.
// Promise: Your own lessons come after the built-in ones, with their links, questions and cards.
func TestOwnLessonsFollowTheCourse(t *testing.T) {
	t.Parallel()
	with, err := LoadWith(ownExample)
	if err != nil {
		t.Fatal(err)
	}
	built := course(t)
	lesson := with.Lessons[len(with.Lessons)-1]
	if len(with.Lessons) != len(built.Lessons)+1 || lesson.Slug != "other-languages" || !lesson.Own ||
		lesson.Number != len(built.Lessons) ||
		!strings.HasPrefix(lesson.Kicker(terms.English), "From your instructor") {
		t.Errorf(
			"the last lesson is %+v, want len(with.Lessons) = %d, Slug = %q, Own = true, Number = %d, "+
				"Kicker beginning with %q",
			lesson, len(built.Lessons)+1, "other-languages", len(built.Lessons), "From your instructor",
		)
	}
	html := lesson.Sections[1].Blocks[0].(Prose).HTML
	if !strings.Contains(html, "1.40") { // 420 / 300
		t.Errorf("the figure is not computed in %s", html)
	}
	fold := lesson.Sections[1].Blocks[1].(Fold).HTML
	if !strings.Contains(fold, "<mfrac><mrow><mn>420</mn></mrow><mrow><mn>300</mn></mrow></mfrac>") {
		t.Errorf("the formula is not rendered in %s", fold)
	}
	if with.Question("own-q-list") == nil || with.Card("own-c-tax") == nil || with.Term("tokenizer-tax") == nil ||
		with.Start("own-german") == nil || with.Walk("two-languages") == nil || with.Term("token") == nil {
		t.Error("a part of the example or of the course was not found by its id")
	}
	if hits := with.Search("tokenizer tax", 5); len(hits) == 0 || !strings.Contains(hits[0].Where, "tokenizer-tax") {
		t.Errorf("the search finds %+v, want at least one element, [0].Where with %q", hits, "tokenizer-tax")
	}
	texts, err := ReadOwn(ownExample)
	if err != nil {
		t.Fatal(err)
	}
	carried, err := LoadTexts(texts)
	if err != nil || len(carried.Lessons) != len(with.Lessons) || carried.Question("own-q-list") == nil ||
		carried.Walk("two-languages") == nil {
		t.Errorf("the same files without their folder: %v", err)
	}
	texts["01-other-languages.md"] += "\n## One more {#more}\n\nNo [term](term:nowhere).\n"
	if _, err := LoadTexts(texts); err == nil || !strings.HasPrefix(err.Error(), "01-other-languages.md:") {
		t.Errorf("a broken file: got %v, want it to begin with %q", err, "01-other-languages.md:")
	}
	if same, err := LoadWith(""); err != nil || len(same.Lessons) != len(built.Lessons) {
		t.Errorf("without a folder: got %v, want no error, len(same.Lessons) = %d", err, len(built.Lessons))
	}
}

// ownFolder returns a folder with a valid lesson and the given additional files.
func ownFolder(t *testing.T, more map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{"01-mine.md": ownLesson("Text.")}
	for name, text := range more {
		files[name] = text
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// ownLesson returns a lesson with one section, whose text begins on line 12.
func ownLesson(text string) string {
	return "---\ntitle: Mine\nslug: mine\nnumber: 1\nminutes: 2\ndifficulty: gentle\nlead: It is mine.\n---\n\n" +
		"## One {#one}\n\n" + text + "\n"
}

// ownSecond returns another lesson with the given slug.
func ownSecond(slug string) string {
	return strings.NewReplacer("slug: mine", "slug: "+slug, "number: 1", "number: 2").Replace(ownLesson("a"))
}

// ownWalk is a walkthrough with a slug that the course already has.
const ownWalk = "---\ntitle: W\nslug: loop\nminutes: 2\nlead: W.\n---\n\n## A {#a}\n\n::: do\nstart prompt=\"a\"\n" +
	":::\n\nSay.\n"

// TestOwnLessonErrorsNameTheLine: every error names the file and the line, and LoadWith returns no
// course.
// Promise: Every error in your own lessons is reported with its file and line.
func TestOwnLessonErrorsNameTheLine(t *testing.T) {
	t.Parallel()
	choice := "## {#%s kind=choice section=mine#one}\n\nWhich?\n\n- [x] A\n  Yes.\n- [ ] B\n  No.\n- [ ] C\n  No.\n"
	q := func(id string) string { return strings.Replace(choice, "%s", id, 1) }
	for name, c := range map[string]struct {
		file, text, want string
	}{
		"a script":          {"01-mine.md", ownLesson("a <script>alert(1)</script>"), "01-mine.md:12: HTML"},
		"a block of HTML":   {"01-mine.md", ownLesson("<div onclick=x>\na\n</div>"), "01-mine.md:12: HTML"},
		"HTML in a title":   {"01-mine.md", strings.Replace(ownLesson("a"), "Mine", "<b>M", 1), "01-mine.md:2: HTML"},
		"a javascript link": {"01-mine.md", ownLesson("[a](javascript:alert(1))"), "01-mine.md:12: broken link"},
		"a data link":       {"01-mine.md", ownLesson("[a](data:text/html,x)"), "01-mine.md:12: broken link"},
		"another site":      {"01-mine.md", ownLesson("[a](https://example.org)"), "01-mine.md:12: link to https"},
		"a picture":         {"01-mine.md", ownLesson("![a](x.png)"), "01-mine.md:12: images"},
		"a figure":          {"01-mine.md", ownLesson("a {=nonsense(1) 2}"), "01-mine.md:12: "},
		"no section there":  {"01-mine.md", ownLesson("[a](learn:tokens#nowhere)"), "01-mine.md:12: broken link"},
		"a formula":         {"01-mine.md", ownLesson(`$\href{javascript:x}{y}$`), `01-mine.md:12: formula`},
		"deep groups":       {"01-mine.md", ownLesson("$" + strings.Repeat("{", 99) + "$"), "more than 20 levels deep"},
		"an outcome": {
			"01-mine.md", strings.Replace(ownLesson("a"), "---\n\n", "outcomes:\n  x: y\n---\n\n", 1),
			"01-mine.md:9: outcomes must be",
		},
		"a number": {
			"01-mine.md", strings.Replace(ownLesson("a"), "number: 1", "number: 2", 1),
			"01-mine.md:4: number 2",
		},
		"not UTF-8": {"01-mine.md", ownLesson("a\n\xff"), "01-mine.md:13: the line is not valid UTF-8"},
		"UTF-32":    {"01-mine.md", "\xff\xfe\x00\x00a\x00\x00\x00", "01-mine.md:1: the file is UTF-32 text"},
		"NUL":       {"01-mine.md", ownLesson("a\x00"), "01-mine.md:12: unexpected control character U+0000"},
		"an escape": {"01-mine.md", ownLesson("a\x1b[2J"), "01-mine.md:12: unexpected control character U+001B"},
		"a long line": {
			"01-mine.md", ownLesson(strings.Repeat("a", maxOwnLine+1)),
			"01-mine.md:12: the line has more",
		},
		"a huge file": {
			"02-huge.md", strings.Repeat("a\n", maxOwnBytes),
			"02-huge.md:1: the file exceeds the limit of 262144",
		},
		"another file":    {"notes.txt", "a", "notes.txt:1: the file is neither a lesson"},
		"a lesson's slug": {"02-tokens.md", ownSecond("tokens"), `02-tokens.md:1: duplicate id "tokens"`},
		"a built-in id":   {"quiz.md", q("q-one-token"), `quiz.md:1: duplicate id "q-one-token"`},
		"an own id twice": {"quiz.md", q("own") + "\n" + q("own"), `quiz.md:12: duplicate id "own"`},
		"an unknown section": {
			"quiz.md", strings.Replace(q("own"), "mine#one", "mine#two", 1),
			`quiz.md:1: unknown section "mine#two"`,
		},
		"a walk's slug": {"walks/9-loop.md", ownWalk, `walks/9-loop.md:3: duplicate walkthrough "loop"`},
		"a walk's file": {"walks/a.txt", "a", "walks/a.txt:1: a walkthrough must be a file named NAME.md"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := ownFolder(t, map[string]string{c.file: c.text})
			got, err := LoadWith(dir)
			if err == nil || got != nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("%v\nwant %s", err, c.want)
			}
			if !strings.HasPrefix(err.Error(), dir+string(filepath.Separator)) {
				t.Errorf(
					"the error does not begin with the folder: got %v, want it to begin with %q", err,
					dir+string(filepath.Separator),
				)
			}
		})
	}
	sound := map[string]string{"quiz.md": q("own"), ".git/x": "", "README.md": "x"}
	if c, err := LoadWith(ownFolder(t, sound)); err != nil || c.Question("own") == nil {
		t.Errorf(`a valid folder: got error %v, want its question "own"`, err)
	}
	if _, err := LoadWith(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a folder that does not exist was read")
	}
}

// TestOwnLessonsFollowInnerSymlinksOnly: a symbolic link to a file within the folder is followed,
// and a link that leads outside the folder is refused.
func TestOwnLessonsFollowInnerSymlinksOnly(t *testing.T) {
	t.Parallel()
	dir := ownFolder(t, map[string]string{".data/mine.md": ownSecond("other")})
	if err := os.Symlink(filepath.Join(".data", "mine.md"), filepath.Join(dir, "02-other.md")); err != nil {
		t.Fatal(err)
	}
	if c, err := LoadWith(dir); err != nil || c.Lesson("other") == nil {
		t.Errorf(`a link within the folder: got error %v, want the lesson "other"`, err)
	}
	outside := filepath.Join(t.TempDir(), "secret.md")
	if err := os.WriteFile(outside, []byte(ownLesson("secret")), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "03-out.md")); err != nil {
		t.Fatal(err)
	}
	want := "03-out.md:1: the file is a link that leads out"
	if _, err := LoadWith(dir); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("a link out of the folder: got error %v, want an error containing %q", err, want)
	}
}

// TestPlainMathML: the formulas in an instructor's lessons are either rendered or refused with an
// error that names them.
func TestPlainMathML(t *testing.T) {
	t.Parallel()
	for tex, want := range map[string]string{
		`x_i^2`:          "<msubsup><mi>x</mi><mrow><mi>i</mi></mrow><mrow><mn>2</mn></mrow></msubsup>",
		`e^{-z/T}`:       "<msup><mi>e</mi><mrow><mrow><mo>−</mo><mi>z</mi><mo>/</mo><mi>T</mi></mrow></mrow></msup>",
		`\frac{1}{n}`:    "<mfrac><mrow><mn>1</mn></mrow><mrow><mi>n</mi></mrow></mfrac>",
		`a \le \gamma`:   "<mi>a</mi><mo>≤</mo><mi>γ</mi>",
		`\text{a<b} < 3`: "<mtext>a&lt;b</mtext><mo>&lt;</mo><mn>3</mn>",
		`1{,}024`:        "<mn>1</mn><mrow><mo>,</mo></mrow><mn>024</mn>",
	} {
		if got, err := plainMath(tex, false); err != nil || got != "<math><mrow>"+want+"</mrow></math>" {
			t.Errorf("%s is %s, %v, want %s", tex, got, err, want)
		}
	}
	for _, tex := range []string{`x}`, `{x`, `x_`, `\frac{1}`, `\evil{x}`, `\text{x`, `a_b_c`, `a & b`, `\`} {
		if got, err := plainMath(tex, false); err == nil || got != "" {
			t.Errorf("plainMath(%s) = %q, want an error", tex, got)
		}
	}
}

// FuzzPlainMath: for any TeX, the output has only MathML elements and the attributes that plainMath
// writes.
func FuzzPlainMath(f *testing.F) {
	for _, tex := range []string{`x_i^2`, `\frac{1}{n}`, `\text{<b>}`, `{{{`, `\href{a}{b}`} {
		f.Add(tex)
	}
	f.Fuzz(func(t *testing.T, tex string) {
		got, err := plainMath(tex, false)
		if err != nil {
			return
		}
		rest := got
		for _, name := range []string{
			"math", "mrow", "mi", "mn", "mo", "mtext", "mfrac", "msqrt", "msub", "msup", "msubsup", "mspace",
		} {
			rest = strings.ReplaceAll(strings.ReplaceAll(rest, "<"+name+">", ""), "</"+name+">", "")
		}
		if rest = strings.ReplaceAll(rest, `<mspace width="0.17em">`, ""); strings.Contains(rest, "<") {
			t.Errorf("%q becomes %s, want only elements of MathML", tex, got)
		}
	})
}

// TestRightToLeftBlocksHaveADirection: each block of an instructor's text has the direction of its
// first letter.
func TestRightToLeftBlocksHaveADirection(t *testing.T) {
	t.Parallel()
	with, err := LoadTexts(map[string]string{"01-hebrew.md": `---
title: שלום
name: שלום
slug: hebrew
number: 1
minutes: 4
difficulty: gentle
lead: Hello.
outcomes: [loop]
---

## One {#one}

שלום Transformer 42, ` + "`שלום`" + `.

- GPT

| a | שלום |
|---|---|
| b | c |

## Two {#two}

English only.
`})
	if err != nil {
		t.Fatal(err)
	}
	sections := with.Lessons[len(with.Lessons)-1].Sections
	html := sections[0].Blocks[0].(Prose).HTML
	for _, want := range []string{
		`<p dir="auto">שלום`, `<code dir="auto">`, `<ul dir="auto">`, `<th scope="col" dir="auto">שלום`,
		`<td dir="auto">c`,
	} {
		if !strings.Contains(html, want) {
			t.Errorf("got %s, want it to contain %s", html, want)
		}
	}
	if got, want := sections[1].Blocks[0].(Prose).HTML, "<p>English only.</p>"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
