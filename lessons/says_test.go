package lessons

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/languages"
	"github.com/tokenbytoken/viz/infer/terms"
)

// coursePlain returns the running text of each file of the course, with figures
// computed and white space collapsed.
func coursePlain(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	walkCourse(t, func(p *fragment) {
		texts[p.at.file] += " " + strings.Join(strings.Fields(proseOf(p)), " ")
	})
	return texts
}

// says fails the test if the course no longer contains one of the quotations. Tests call it before
// they check the statements.
func says(t *testing.T, quotations ...string) {
	t.Helper()
	texts := coursePlain(t)
	for _, q := range quotations {
		found := false
		for _, text := range texts {
			found = found || strings.Contains(text, q)
		}
		if !found {
			t.Errorf("the course no longer says %q: change this test with the text", q)
		}
	}
}

// TestExpertNamesAreMentioned: the lessons contain the names that experts look
// for, each in the lesson where it belongs and, if it relies on a source, with
// the citation in the same paragraph.
func TestExpertNamesAreMentioned(t *testing.T) {
	texts := coursePlain(t)
	files, err := languages.Course(languages.English)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct{ file, name, cited string }{
		{"01-the-loop.md", "The kind of transformer that writes", ""}, // other kinds translate or classify
		{"01-the-loop.md", "100,000 to 260,000", "gemma2025"},
		{"05-choosing-a-token.md", "Beam search", "holtzman2019"},
		{"05-choosing-a-token.md", "repetition penalty", "keskar2019"},
		{"05-choosing-a-token.md", "constrained decoding", "willard2023"},
		{"07-stopping.md", "chat template", ""},
		{"07-stopping.md", "end-of-turn token", ""},
		{"10-calling-an-api.md", "you usually get T = 1 and top_p = 1", ""},
		{"10-calling-an-api.md", "refuse any temperature but 1", "openai2026"},
		{"10-calling-an-api.md", "sends its whole history again", ""},
		{"10-calling-an-api.md", "cached input", "anthropic2026"},
		{"10-calling-an-api.md", "writes out of sight is billed as output", ""},
		{"12-longer-chapter.md", "or 4 bits", "frantar2022"},
		{"12-longer-chapter.md", "up to three times the speed of standard attention", "dao2022"},
	} {
		if !strings.Contains(texts[row.file], row.name) {
			t.Errorf("%s does not contain %q", row.file, row.name)
		}
		raw, err := fs.ReadFile(files, row.file)
		if err != nil {
			t.Fatal(err)
		}
		if row.cited != "" && !citesWith(string(raw), row.name, row.cited) {
			t.Errorf("%s contains %q without citing %s in that paragraph", row.file, row.name, row.cited)
		}
	}
}

// citesWith reports whether a paragraph of a file, which is a single line,
// contains both a name and a citation.
func citesWith(file, name, cited string) bool {
	for line := range strings.Lines(file) {
		if strings.Contains(strings.ReplaceAll(line, "*", ""), name) && strings.Contains(line, "[@"+cited+"]") {
			return true
		}
	}
	return false
}

// TestNoStiffSentences: the course does not contain any of the stiff sentences that were removed
// from it.
func TestNoStiffSentences(t *testing.T) {
	for file, text := range coursePlain(t) {
		for _, gone := range []string{
			"by what stands in the text", "hangs together but says the expected", "nobody asks for the old positions",
			"are no show", "the exps are other ones", "the wait is the whole of it", "the median is told",
		} {
			if strings.Contains(strings.ToLower(text), strings.ToLower(gone)) {
				t.Errorf("%s still says %q", file, gone)
			}
		}
	}
}

// TestOverviewReadingTimes: the times that the overview names are the sums of the lessons' minutes,
// rounded to half an hour.
func TestOverviewReadingTimes(t *testing.T) {
	says(t,
		"The lessons that aren’t marked harder take about an hour to read",
		"all of them together about an hour and a half",
	)
	all, gentle := 0, 0
	for _, l := range course(t).Lessons {
		if all += l.Minutes; l.Difficulty != "harder" {
			gentle += l.Minutes
		}
	}
	if halves := (gentle + 15) / 30; halves != 2 {
		t.Errorf("the lessons that are not harder take %d minutes, want about 60", gentle)
	}
	if halves := (all + 15) / 30; halves != 3 {
		t.Errorf("all lessons take %d minutes, want about 90", all)
	}
}

// TestSourceStatementsAreMade: the lessons make these statements of the sources.
func TestSourceStatementsAreMade(t *testing.T) {
	says(t,
		"There are four common ways to steer a model without training it. Choosing its tokens, called decoding",
		"first you take pen and paper",
		"the model doesn’t produce an answer: it produces the next token",
		"the argmax of the scores, is called greedy, and it’s fast",
		"In practice, no detail of the loop matters more for speed",
		"two groups proposed it independently",
		"All of them act when a token is chosen, or later",
		"you’ll have done by hand what every chat does for every token",
	)
	table := "" // coursePlain leaves out tables
	for _, b := range course(t).Section("choosing-a-token#when-to-use").Blocks {
		if p, ok := b.(Prose); ok {
			table += p.HTML
		}
	}
	if want := "the most variety; mostly used with top-k or top-p"; !strings.Contains(table, want) {
		t.Errorf("the table of strategies does not contain %q", want)
	}
}

// TestLoopLessonJoinsTheNamesOfTheStages: the first lesson has a table with the names of the seven
// stages as the views Numbers and Story show them.
func TestLoopLessonJoinsTheNamesOfTheStages(t *testing.T) {
	files, err := languages.Course(languages.English)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := fs.ReadFile(files, "01-the-loop.md")
	if err != nil {
		t.Fatal(err)
	}
	for i, kind := range infer.Kinds {
		stage, verb := terms.English.T("stage."+kind.String()), terms.English.T("verb."+kind.String())
		if row := fmt.Sprintf("| %d %s | %s |\n", i+1, stage, verb); !strings.Contains(string(raw), row) {
			t.Errorf("the table has no row that ends with %q", row)
		}
	}
}
