package lessons

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/yuin/goldmark/ast"

	"github.com/tokenbytoken/viz/infer/languages"
)

// Every number in the text is computed ({=…}), marked as given ([…]{.given}, or in a table under
// {.given}), or listed in this file. The file is meant for ordinals, quoted settings, and numbers
// in invented examples. Lines have the form `file: numbers`. Years and single digits within
// formulas need not be listed.
const digitsFile = "testdata/digits.txt"

var (
	isNumber = regexp.MustCompile(`[0-9]+([.,][0-9]+)*`)
	isYear   = regexp.MustCompile(`^(19|20)[0-9][0-9]$`)
)

// typedNumbers returns the numbers in a fragment that were typed by hand.
func typedNumbers(p *fragment) (list []string) {
	add := func(text string, free func(string) bool) {
		for _, n := range isNumber.FindAllString(text, -1) {
			if !isYear.MatchString(n) && !free(n) {
				list = append(list, n)
			}
		}
	}
	none := func(string) bool { return false }
	inFormula := func(n string) bool { return len(n) == 1 }
	var text strings.Builder // the parser splits text into pieces: "1", ",", "024"
	_ = ast.Walk(p.doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if _, given := n.AttributeString("given"); given {
			return ast.WalkSkipChildren, nil
		}
		switch n := n.(type) {
		case *ast.Text:
			if entering {
				text.Write(n.Segment.Value(p.source))
			}
			if n.SoftLineBreak() {
				text.WriteByte(' ')
			}
			return ast.WalkContinue, nil
		case *ast.String:
			return ast.WalkContinue, nil
		case *formula:
			if !entering {
				break
			}
			add(isTexFigure.ReplaceAllString(n.written, ""), inFormula)
		case *display:
			if !entering {
				break
			}
			add(isTexFigure.ReplaceAllString(n.written, ""), inFormula)
		case *ast.FencedCodeBlock:
			text.WriteString(linesText(n, p.source))
		}
		text.WriteByte(' ')
		return ast.WalkContinue, nil
	})
	add(text.String(), none)
	return list
}

func TestNumbersAreComputed(t *testing.T) {
	data, err := os.ReadFile(digitsFile)
	if err != nil {
		t.Fatal(err)
	}
	allowed, used := map[string]bool{}, map[string]bool{}
	for line := range strings.Lines(string(data)) {
		file, numbers, ok := strings.Cut(line, ":")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		for _, n := range strings.Fields(numbers) {
			allowed[file+": "+n] = true
		}
	}
	walkCourse(t, func(p *fragment) {
		if slices.Contains([]string{"references.md", "starts.md"}, p.at.file) {
			return // these files hold citations and prompts
		}
		for _, n := range typedNumbers(p) {
			key := p.at.file + ": " + n
			used[key] = true
			if !allowed[key] {
				t.Errorf("%s:%d: the number %s is typed: compute it with {=…}, mark it as "+
					"[%s]{.given}, or list it in %s",
					p.at.file, p.at.line, n, n, digitsFile)
			}
		}
	})
	for key := range allowed {
		if !used[key] {
			t.Errorf("%s lists %q, which is not in the lessons", digitsFile, key)
		}
	}
}

// TestFiguresWorkSomethingOut: every figure computes something; none is just a number in braces.
func TestFiguresWorkSomethingOut(t *testing.T) {
	idle := regexp.MustCompile(`^\s*(calc\()?\s*[0-9.]+\s*\)?\s*[%x,0-9]*$`)
	for expression, want := range map[string]bool{
		"calc(3) 2": true, "12 0": true, "calc(3+1) 0": false, "exp(1) 2": false, "shape().vocab ,": false,
	} {
		if idle.MatchString(expression) != want {
			t.Fatalf("{=%s}: idle is %v, want %v", expression, !want, want)
		}
	}
	for _, f := range courseFigures(t) {
		if idle.MatchString(f.expression) {
			t.Errorf("%s: it only repeats a number", f)
		}
	}
}

// courseFigures returns all figures of the course.
func courseFigures(t *testing.T) []figureUse {
	t.Helper()
	table, err := readMath(mathJSON)
	if err != nil {
		t.Fatal(err)
	}
	files, err := languages.Course(languages.English)
	if err != nil {
		t.Fatal(err)
	}
	l := newLoader(files, table)
	l.load()
	if err := l.problems.err(); err != nil {
		t.Fatal(err)
	}
	if len(l.figures) < 50 {
		t.Fatalf("only %d figures", len(l.figures))
	}
	return l.figures
}

func TestTypedNumbersAreFound(t *testing.T) {
	l := newLoader(folderOf(nil), MathTable{})
	l.collecting = true
	for text, want := range map[string]string{
		"Of 0.63 and 1,024 in 2019":              "[0.63 1,024]",
		"In `0.7` and $0.632 / 2$ and $x^2$":     "[0.632 0.7]",
		"{=exp(1) 2} and [12]{.given} are fine":  "[]",
		"$= {=exp(1) 2}$ too":                    "[]",
		"| 5 |\n|---|\n| 77 |":                   "[5 77]",
		"{.given}\n| five |\n|---|\n| 77 |":      "[]",
		"### 3 things\n\n1. first\n2. second 22": "[3 22]",
	} {
		if got := fmt.Sprint(typedNumbers(l.parse(position{"x.md", 1}, text))); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
