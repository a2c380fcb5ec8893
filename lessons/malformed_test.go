package lessons

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/terms"
)

// small is the smallest complete course.
var small = map[string]string{
	"00-start.md": "---\ntitle: Start\nslug: start\nnumber: 0\nminutes: 2\ndifficulty: gentle\nlead: It begins.\n" +
		"outcomes:\n  loop: Follow the loop.\n---\n\n## First {#first}\n\nText [@doe2020] of a [[loop]].\n\n" +
		"::: widget turn id=once prompt=\"Hello\"\nOne turn.\n:::\n\n::: check q-one\n:::\n",
	"quiz.md": "## q-one {kind=choice outcome=loop section=start#first}\n\nWhich?\n\n- [x] This\n  Yes.\n- [ ] " +
		"That\n  No.\n- [ ] None\n  No.\n\n" +
		"## q-two {kind=recall outcome=loop section=start#first}\n\nWhat?\n\n### Answer\n\nThis.\n\n### " +
		"Rubric\n\n- One.\n- Two.\n",
	"cards.md":      "## {#c-one outcome=loop section=start#first}\n\nFront\n\n---\n\nBack\n",
	"glossary.md":   "## Loop {#loop section=start#first}\n\nAgain and again.\n",
	"references.md": "## Doe 2020 {#doe2020}\n\nA work. <https://example.org>\n",
	"starts.md":     "## Go {#go temperature=0}\n\n```\nHello\n```\n",
	"reference.md":  "---\ntitle: Sheet\nlead: All of it.\n---\n\n## Loop {#loop}\n\nAgain.\n",
	"checked.md":    "---\ntitle: Checked\nlead: Once more.\n---\n\n## One {#one}\n\nIt is two.\n",
	"outcomes.md": "## loop\n\n- explanation: start#first\n- experiment: start#once\n- exercise: quiz:q-one, " +
		"practice:softmax\n- card: c-one\n",
}

func TestSmallCourseLoads(t *testing.T) {
	c, err := load(newLoader(folderOf(small), MathTable{}))
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Lessons) != 1 || len(c.Questions) != 2 || len(c.Cards) != 1 ||
		c.Start("go").Prompt != "Hello" {
		t.Errorf(`got %+v, want 1 lesson, 2 questions, 1 card and a start "go" with the prompt "Hello"`, c)
	}
	want := `<p>Text <span class="cite">(<a href="/reference#ref-doe2020">Doe 2020</a>)</span> of a <button ` +
		`type="button" class="term" popovertarget="note-loop">loop</button>.</p>`
	if got := c.Lessons[0].Sections[0].Blocks[0].(Prose).HTML; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if q := c.Question("q-one"); len(q.Choices) != 3 || !q.Choices[0].Right || q.Choices[0].Why != "Yes." ||
		q.PromptText != "Which?" {
		t.Errorf(
			"got %+v, want len(Choices) = 3, Choices[0].Right = true, Choices[0].Why = %q, PromptText = %q", q, "Yes.",
			"Which?",
		)
	}
	if q := c.Question("q-two"); q.Answer != "<p>This.</p>" || len(q.Rubric) != 2 {
		t.Errorf("got %+v, want Answer = %q, len(Rubric) = 2", q, "<p>This.</p>")
	}
}

// Each row changes one detail of the small course. Loading the changed course must give exactly one
// error, which must name the position.
var malformed = []struct{ file, old, new, want string }{
	// front matter
	{"00-start.md", "title: Start\n", "", `00-start.md:1: the front matter is missing "title"`},
	{"00-start.md", "title: Start", "title", `00-start.md:2: invalid line "title" in the front matter`},
	{"00-start.md", "title: Start", "title: Start\ntitle: Twice", `00-start.md:3: duplicate front matter key "title"`},
	{"00-start.md", "title: Start", "titel: Start\ntitle: Start", `00-start.md:2: unknown front matter key "titel"`},
	{"00-start.md", "slug: start", "slug: begin", `00-start.md:3: the slug "begin" does not match`},
	{"00-start.md", "slug: start", "slug: turn", `00-start.md:3: /learn/turn is reserved for another page`},
	{"00-start.md", "number: 0", "number: 1", `00-start.md:4: number 1 does not match`},
	{"00-start.md", "minutes: 2", "minutes: soon", `00-start.md:5: minutes is "soon"`},
	{"00-start.md", "gentle\n", "gentle\ngoal:\n", `00-start.md:7: the front matter is missing "goal"`},
	{"00-start.md", "gentle\n", "gentle\ngoal: <b>a</b>\n", `00-start.md:7: HTML is not supported: <b>`},
	{"00-start.md", "gentle", "easy", `00-start.md:6: unknown difficulty "easy"; want one of`},
	{
		"00-start.md", "gentle\nlead: It begins.\noutcomes:\n  loop: Follow the loop.\n---", "gentle",
		`00-start.md:1: unclosed front matter`,
	},
	// sections and directives
	{"00-start.md", "{#first}", "{#First}", `00-start.md:12: invalid id "First"`},
	{"00-start.md", "{#first}", "", `00-start.md:12: invalid id ""`},
	{"00-start.md", "{#first}", "{#first #again}", `00-start.md:12: multiple ids`},
	{"00-start.md", "{#first}", "{#first color=red}", `00-start.md:12: unknown setting "color"`},
	{"00-start.md", "## First", "Text\n\n## First", `00-start.md:11: text before the first heading`},
	{"00-start.md", "::: check q-one\n:::", "::: check q-one", `00-start.md:20: unclosed directive "check"`},
	{
		"00-start.md", "One turn.\n:::\n", "One turn.\n",
		`00-start.md:19: the directive "check q-one" is inside the directive on line 16`,
	},
	{"00-start.md", "::: check q-one", ":::\n\n::: check q-one", `00-start.md:20: unmatched :::`},
	{"00-start.md", "::: check q-one", "::: chekc q-one", `00-start.md:20: unknown directive "chekc"`},
	{"00-start.md", "check q-one", "check q-none", `00-start.md:20: unknown question "q-none"`},
	{"00-start.md", "::: check q-one\n", "::: slip A slip\n", `00-start.md:20: the directive "slip" is empty`},
	{
		"00-start.md", "Text [@", "```\nText [@",
		"00-start.md:14: unclosed code block; want a closing ```",
	},
	{
		"00-start.md", "Text ", "::: picture cut needs=start\nA cut.\n:::\n\nText ",
		`00-start.md:14: picture cut: unknown need "start"`,
	},
	// Markdown that is not in the dialect
	{"00-start.md", "Text ", "Text <b>bold</b> ", `00-start.md:14: HTML is not supported: <b>`},
	{"00-start.md", "Text ", "<script>alert(1)</script>\n\nText ", `00-start.md:14: HTML is not supported`},
	{"00-start.md", "Text ", "Text ![a](b.png) ", `00-start.md:14: images are not supported`},
	{"00-start.md", "Text ", "# Big\n\nText ", `00-start.md:14: headings within a section must begin with ###`},
	{"00-start.md", "Text ", "---\n\nText ", `00-start.md:14: horizontal rules are not supported`},
	// links
	{
		"00-start.md", "Text ", "One\ntwo [x](learn:start#none) ",
		`00-start.md:15: broken link "learn:start#none"`,
	},
	{"00-start.md", "Text ", "[x](learn:begin#first) ", `did you mean learn:start#first?`},
	{"00-start.md", "Text ", "[x](loop:none) ", `00-start.md:14: broken link "loop:none"`},
	{"00-start.md", "Text ", "[x](practice:none) ", `00-start.md:14: broken link "practice:none"`},
	{
		"00-start.md", "Text ", "[x](/learn/start) ",
		`00-start.md:14: broken link "/learn/start"; links begin with learn:`,
	},
	{"00-start.md", "Text ", "[x](javascript:alert) ", `00-start.md:14: broken link "javascript:alert"`},
	{
		"00-start.md", "Text ", "[x](https://example.org) ",
		`00-start.md:14: link to https://example.org: only references.md`,
	},
	{
		"00-start.md", "Text ", "<http://example.org> ",
		`00-start.md:14: link to http://example.org: only references.md`,
	},
	{"00-start.md", "Text ", `[x](learn:start "title") `, `00-start.md:14: link titles are not supported`},
	{
		"references.md", "<https://example.org>", "<http://example.org>",
		`references.md:3: link to http://example.org`,
	},
	{"00-start.md", "@doe2020", "@doe2021", `00-start.md:14: unknown reference "doe2021"`},
	{"00-start.md", "[@doe2020]", "[@doe2020", `00-start.md:14: unclosed citation`},
	{"00-start.md", "[[loop]]", "[[lop]]", `00-start.md:14: the glossary has no term "lop"`},
	{"00-start.md", "[[loop]]", "[[loop", `00-start.md:14: unclosed term`},
	// formulas, figures, marks
	{"00-start.md", "Text ", "Text $x^2$ ", `00-start.md:14: the formula x^2 has not been rendered: run go generate`},
	{"00-start.md", "Text ", "Text $x ", `00-start.md:14: unclosed formula`},
	{"00-start.md", "Text ", "Text $ 5$ ", `00-start.md:14: the formula $ 5$ is empty or begins or ends with a space`},
	{"00-start.md", "Text ", "Text $$x$$ ", `00-start.md:14: a $$ formula must be on separate lines`},
	{"00-start.md", "Text ", "$$\nx\n\nText ", `00-start.md:14: unclosed formula; want a closing $$`},
	{
		"00-start.md", "Text ", "Text {=softmax(T=1).teh 4} ",
		`00-start.md:14: figure {=softmax(T=1).teh 4}: softmax has no field "teh"`,
	},
	{"00-start.md", "Text ", "Text {=1 ", `00-start.md:14: unclosed figure`},
	{"00-start.md", "Text ", "Text `{=exp(1) 2}` ", `00-start.md:14: figures cannot be used in`},
	{"00-start.md", "Text ", "Text {.tk} ", `00-start.md:14: {.tk} must directly follow`},
	{"00-start.md", "Text ", "Text {.big} ", `00-start.md:14: unknown mark {.big}`},
	{"00-start.md", "Text ", "{.given}\n\nText ", `00-start.md:14: {.given} must be on the line before a table`},
	// widgets
	{"00-start.md", "widget turn", "widget trun", `00-start.md:16: unknown widget "trun"`},
	{"00-start.md", ` prompt="Hello"`, "", `00-start.md:16: widget turn: missing setting prompt`},
	{"00-start.md", `"Hello"`, `"Hello`, `00-start.md:16: prompt: missing closing quote`},
	{"00-start.md", `"Hello"`, `""`, `00-start.md:16: widget turn: prompt is empty`},
	{"00-start.md", `"Hello"`, `"Hello" t=-1`, `00-start.md:16: widget turn: t is -1`},
	{"00-start.md", `"Hello"`, `"Hello" k=many`, `00-start.md:16: widget turn: k is "many"; it must be a whole number`},
	{
		"00-start.md", `"Hello"`, `"Hello" typical=0`,
		`00-start.md:16: widget turn: typical is 0; it must be above 0, up to 1 (off)`,
	},
	{"00-start.md", `"Hello"`, `"Hello" gamma=4`, `00-start.md:16: widget turn: unknown setting "gamma"`},
	{"00-start.md", "One turn.\n", "", `00-start.md:16: the directive "widget" is empty`},
	// questions
	{"quiz.md", "kind=choice", "kind=guess", `quiz.md:1: unknown kind "guess"`},
	{"quiz.md", "outcome=loop", "outcome=lop", `quiz.md:1: unknown outcome "lop"`},
	{"quiz.md", "start#first", "start#frist", `quiz.md:1: unknown section "start#frist"`},
	{
		"quiz.md", "[x]", "[ ]",
		`quiz.md:1: a choice question requires at least three choices, one marked [x]: got 3 choices, 0 marked`,
	},
	{
		"quiz.md", "- [ ] None", "- [x] None",
		`quiz.md:1: a choice question requires at least three choices, one marked [x]: got 3 choices, 2 marked`,
	},
	{"quiz.md", "  No.\n- [ ] None", "- [ ] None", `quiz.md:7: the choice has no explanation`},
	{"quiz.md", "  Yes.", "Yes.", `quiz.md:6: the line does not belong to a list item`},
	{"quiz.md", "### Answer\n\nThis.\n\n", "", `quiz.md:12: a recall question requires ### Answer`},
	{"quiz.md", "- Two.\n", "", `quiz.md:12: a recall question requires ### Rubric`},
	{"quiz.md", "### Answer", "### Anser", `quiz.md:16: unknown heading "Anser"`},
	{"quiz.md", "## q-two", "## q-one", `quiz.md:12: duplicate id "q-one"`},
	// other files
	{"cards.md", "---", "", `cards.md:1: the card has no --- line`},
	{"cards.md", "Back", "", `cards.md:1: the front or back of the card is empty`},
	{"glossary.md", "## Loop", "##", `glossary.md:1: the term has no name`},
	{"starts.md", "temperature=0", "temperature=101", `starts.md:1: temperature is 101`},
	{"starts.md", "temperature=0", "stage=dream", `starts.md:1: unknown stage "dream"`},
	{"starts.md", "Hello", "", `starts.md:2: invalid prompt (it must be in a code block): prompt is empty`},
	{"reference.md", "Again.", "", `reference.md:6: the section is empty`},
	{"outcomes.md", "start#once", "start#twice", `outcomes.md:4: unknown widget "start#twice"`},
	{"outcomes.md", "- experiment: start#once\n", "", `00-start.md:9: the outcome "loop" has no experiment`},
	{"outcomes.md", "c-one", "c-two", `outcomes.md:6: unknown card "c-two"`},
	{"outcomes.md", "practice:softmax", "start#first", `outcomes.md:5: "start#first" is neither a drill`},
	{
		"references.md", "A work.", "A work that cites [@doe2020].\n\n## Roe 2021 {#roe2021}\n\nAnother.",
		`references.md:5: the reference "roe2021" is never cited`,
	},
}

func TestMalformedCoursesAreRefused(t *testing.T) {
	for _, row := range malformed {
		files := maps.Clone(small)
		if files[row.file] = strings.Replace(files[row.file], row.old, row.new, 1); files[row.file] == small[row.file] {
			t.Fatalf("%q is not in %s", row.old, row.file)
		}
		c, err := load(newLoader(folderOf(files), MathTable{}))
		if err == nil || c != nil {
			t.Errorf("%s with %q was accepted, want it refused", row.file, row.new)
			continue
		}
		if !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s with %q:\n%v\nwant %s", row.file, row.new, err, row.want)
		}
		var p *Problem
		if !errors.As(err, &p) || p.Line < 1 || p.File == "" {
			t.Errorf("%s with %q: %v is not a Problem with a position", row.file, row.new, err)
		}
	}
}

// TestWidgetAcceptsEveryKnob: a lesson may set every knob of an experiment that draws tokens.
func TestWidgetAcceptsEveryKnob(t *testing.T) {
	for _, k := range terms.Knobs() {
		files := maps.Clone(small)
		given := fmt.Sprintf(`"Hello" %s=%s`, k.Short, terms.Plain(k.Min+k.Step))
		files["00-start.md"] = strings.Replace(files["00-start.md"], `"Hello"`, given, 1)
		if _, err := load(newLoader(folderOf(files), MathTable{})); err != nil {
			t.Errorf("%s: %v", given, err)
		}
	}
}

// TestMissingFilesAreNamed: if a file is missing, the error from loading the course names it.
func TestMissingFilesAreNamed(t *testing.T) {
	for _, name := range special {
		files := maps.Clone(small)
		delete(files, name)
		if _, err := load(newLoader(folderOf(files), MathTable{})); err == nil || !strings.Contains(
			err.Error(), name+":1: missing file",
		) {
			t.Errorf("without %s: got error %v, want an error containing %q", name, err, name+":1: missing file")
		}
	}
	files := maps.Clone(small)
	files["notes.md"] = "x"
	if _, err := load(newLoader(folderOf(files), MathTable{})); err == nil || !strings.Contains(
		err.Error(), "notes.md:1: the file is neither a lesson",
	) {
		t.Errorf(
			"an unknown file: got error %v, want an error containing %q", err,
			"notes.md:1: the file is neither a lesson",
		)
	}
	files = maps.Clone(small)
	files["cards.md"] = "\xff"
	if _, err := load(newLoader(folderOf(files), MathTable{})); err == nil || !strings.Contains(
		err.Error(), "cards.md:1: the file is not valid UTF-8",
	) {
		t.Errorf(
			"a file in another encoding: got error %v, want an error containing %q", err,
			"cards.md:1: the file is not valid UTF-8",
		)
	}
}
