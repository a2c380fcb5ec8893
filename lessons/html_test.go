package lessons

import (
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/tokenbytoken/viz/infer/lab"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/infer/why"
)

// allowedTags are the tags that the course's HTML may contain, with the attributes
// of each. All MathML elements may also have MathML's presentation attributes.
var allowedTags = map[string]string{
	"p": "", "em": "", "strong": "", "ul": "", "ol": "start", "li": "", "h3": "", "blockquote": "", "br": "",
	"code": "",
	"pre":  "class tabindex", "span": "class", "i": "class", "a": "href class",
	"div": "class tabindex role aria-label", "table": "class", "thead": "", "tbody": "", "tr": "",
	"th": "scope class", "td": "class data-head", "button": "type class popovertarget",
}

const mathAttributes = "class display form fence stretchy separator width lspace rspace movablelimits " +
	"symmetric accent linethickness mathvariant columnalign rowspacing columnspacing scriptlevel displaystyle height " +
	"depth voffset minsize maxsize"

// unsafe describes what is wrong with an HTML fragment, or returns "". It calls see with every
// link.
func unsafe(fragment string, see func(href string)) string {
	z := html.NewTokenizer(strings.NewReader(fragment))
	math := 0
	for {
		switch z.Next() {
		case html.ErrorToken:
			if z.Err() != io.EOF {
				return z.Err().Error()
			}
			return ""
		case html.CommentToken, html.DoctypeToken:
			return "a comment: " + string(z.Raw())
		case html.StartTagToken, html.SelfClosingTagToken:
			t := z.Token()
			allowed, known := allowedTags[t.Data]
			if t.Data == "math" || math > 0 && strings.HasPrefix(t.Data, "m") {
				math++
				allowed, known = mathAttributes, true
			}
			if !known {
				return "the tag <" + t.Data + ">"
			}
			for _, a := range t.Attr {
				if !contains(strings.Fields(allowed), a.Key) {
					return "the attribute " + a.Key + " on <" + t.Data + ">"
				}
				if a.Key == "href" {
					if !strings.HasPrefix(a.Val, "/") && !strings.HasPrefix(a.Val, "https://") ||
						strings.HasPrefix(a.Val, "//") {
						return "the link " + a.Val
					}
					see(a.Val)
				}
			}
		}
	}
}

// fragments returns all HTML fragments that pages show, keyed by position.
func fragments(c *Course) map[string]string {
	all := map[string]string{}
	section := func(s *Section, key string) {
		all[key+" title"] = s.TitleHTML
		for i, b := range s.Blocks {
			at := key + " block " + strconv.Itoa(i)
			switch b := b.(type) {
			case Prose:
				all[at] = b.HTML
			case Fold:
				all[at] = b.HTML
			case Aside:
				all[at] = b.HTML
			case Picture:
				all[at] = b.Caption
			case Widget:
				all[at], all[at+" notice"] = b.Caption, b.Notice
			}
		}
	}
	for _, lesson := range c.Lessons {
		all[lesson.Slug], all[lesson.Slug+" goal"] = lesson.Lead, lesson.Goal
		for _, s := range lesson.Sections {
			section(s, s.Key())
		}
		for i, n := range lesson.Notes {
			all[lesson.Slug+" note "+strconv.Itoa(i)] = n.HTML
		}
	}
	if c.Sheet != nil {
		all["sheet"] = c.Sheet.Lead
		for _, s := range c.Sheet.Sections {
			section(s, "sheet "+s.ID)
		}
	}
	if c.Checked != nil {
		all["checked"] = c.Checked.Lead
		for _, s := range c.Checked.Sections {
			section(s, "checked "+s.ID)
		}
	}
	for _, q := range c.Questions {
		all["quiz "+q.ID], all["answer "+q.ID] = q.Prompt, q.Answer
		for _, choice := range q.Choices {
			all["choice "+q.ID+" "+choice.HTML], all["why "+q.ID+" "+choice.HTML] = choice.HTML, choice.Why
		}
		for _, r := range q.Rubric {
			all["rubric "+q.ID+" "+r] = r
		}
	}
	for _, card := range c.Cards {
		all["front "+card.ID], all["back "+card.ID] = card.Front, card.Back
	}
	for _, t := range c.Terms {
		all["term "+t.ID] = t.HTML
	}
	for _, r := range c.References {
		all["reference "+r.ID] = r.HTML
	}
	for _, o := range c.Outcomes {
		all["outcome "+o.ID] = o.HTML
	}
	return all
}

// exists reports whether an address within the site exists in the course.
func exists(c *Course, href string) bool {
	if off, ok := strings.CutPrefix(href, "/why?off="); ok {
		target, err := testmodel.Load()
		if err != nil {
			return false
		}
		parts, positions, err := why.ParseOff(target, off)
		return err == nil && len(parts)+len(positions) > 0
	}
	if name, ok := strings.CutPrefix(href, "/labs/"); ok {
		_, found := lab.Find(name)
		return found
	}
	path, id, _ := strings.Cut(href, "#")
	rest, isLesson := strings.CutPrefix(path, "/learn/")
	switch {
	case isLesson && id == "":
		return c.Lesson(rest) != nil
	case isLesson:
		return c.Section(rest+"#"+id) != nil || c.widgets[rest+"#"+id]
	case path == "/glossary" && id != "":
		return c.Term(id) != nil
	case path == "/quiz?all=1" && id != "":
		return c.Question(id) != nil
	case path == "/cards" && id != "":
		return c.Card(id) != nil
	case path == "/checked" && id != "":
		return slices.ContainsFunc(c.Checked.Sections, func(s *Section) bool { return s.ID == id })
	case path == "/reference" && id != "":
		for _, r := range c.References {
			if referenceHref(r.ID) == href {
				return true
			}
		}
		for _, s := range c.Sheet.Sections {
			if s.ID == id {
				return true
			}
		}
		return false
	}
	if key, ok := strings.CutPrefix(href, "/loop?start="); ok {
		return c.Start(key) != nil
	}
	if kind, ok := strings.CutPrefix(href, "/practice/"); ok {
		return newLoaderWithDrills().targets["practice:"+kind] || kind == "predict"
	}
	for _, page := range pages {
		if href == page {
			return true
		}
	}
	return false
}

func newLoaderWithDrills() *loader {
	l := newLoader(folderOf(nil), MathTable{})
	l.drills()
	return l
}

// TestFragmentsUseKnownMarkup: every fragment has only known tags and attributes, no unprocessed
// dialect syntax, and no broken links.
func TestFragmentsUseKnownMarkup(t *testing.T) {
	c := course(t)
	links := 0
	for where, fragment := range fragments(c) {
		if bad := unsafe(fragment, func(href string) {
			links++
			if strings.HasPrefix(href, "https://") {
				if !strings.HasPrefix(where, "reference ") {
					t.Errorf("%s links to %s, want external links only in references", where, href)
				}
			} else if !exists(c, href) {
				t.Errorf("%s links to %s, which does not exist", where, href)
			}
		}); bad != "" {
			t.Errorf("%s: %s in %s", where, bad, fragment)
		}
		for _, mark := range []string{"$", "{=", "{.", ":::", "[[", "[@", "<math></math>", string(bar)} {
			if strings.Contains(fragment, mark) {
				t.Errorf("%s: the mark %q was not removed from %s", where, mark, fragment)
			}
		}
	}
	if links < 100 {
		t.Errorf("only %d links", links)
	}
}

// TestUnsafeDetectsBadMarkup: unsafe detects all bad markup.
func TestUnsafeDetectsBadMarkup(t *testing.T) {
	for fragment, want := range map[string]string{
		`<p>fine <a href="/learn">x</a></p>`:        "",
		`<math display="block"><mi>x</mi></math>`:   "",
		`<p style="color:red">x</p>`:                "the attribute style on <p>",
		`<p onclick="x()">x</p>`:                    "the attribute onclick on <p>",
		`<script>x</script>`:                        "the tag <script>",
		`<mi>x</mi>`:                                "the tag <mi>",
		`<a href="javascript:x">x</a>`:              "the link javascript:x",
		`<a href="//example.org">x</a>`:             "the link //example.org",
		`<img src="x">`:                             "the tag <img>",
		`<math><mi style="color:red">x</mi></math>`: "the attribute style on <mi>",
		`<!-- raw HTML omitted -->`:                 "a comment: <!-- raw HTML omitted -->",
	} {
		if got := unsafe(fragment, func(string) {}); got != want {
			t.Errorf("%s: %q, want %q", fragment, got, want)
		}
	}
}

func TestMarkdownToHTML(t *testing.T) {
	l := newLoader(
		folderOf(nil),
		MathTable{Inline: map[string]string{`x_i`: "<math><mi>x</mi></math>", `p = 0.63`: "<math>p</math>"}},
	)
	for markdown, want := range map[string]string{
		"`·the` and `↵`": `<p><span class="tk"><i class="ws">·</i>the</span> and <span class="tk"><i ` +
			`class="ws">↵</i></span></p>`,
		"so $x_i$, (*and* $x_i$).": `<p>so <span class="nb"><math><mi>x</mi></math>,</span> (<em>and</em> <span ` +
			`class="nb"><math><mi>x</mi></math>).</span></p>`,
		"f ($x_i$ is) $x_i$\n, g": `<p>f <span class="nb">(<math><mi>x</mi></math></span> is) ` +
			`<math><mi>x</mi></math>` + "\n, g</p>",
		"`the`{.tk} or `<b>`":       `<p><span class="tk">the</span> or <code>&lt;b&gt;</code></p>`,
		"a $x_i$ *b_c* $x_i$":       `<p>a <math><mi>x</mi></math> <em>b_c</em> <math><mi>x</mi></math></p>`,
		"$p = {=softmax().the 2}$":  `<p><math>p</math></p>`,
		`5 \$ and {braces}`:         `<p>5 $ and {braces}</p>`,
		"[1,024]{.given} \"so\"":    `<p><span class="given">1,024</span> &ldquo;so&rdquo;</p>`,
		"{=filter(k=3).tokens}":     `<p>the, a, an</p>`,
		"it's {=calc(1/3) %1}":      "<p>it&rsquo;s 33.3%</p>",
		"```\n<b>·x</b>\n```":       `<pre class="code" tabindex="0"><code>&lt;b&gt;·x&lt;/b&gt;` + "\n</code></pre>",
		"1. one\n2. two":            "<ol>\n<li>one</li>\n<li>two</li>\n</ol>",
		"### More\n\ntext\ngoes on": "<h3>More</h3>\n<p>text\ngoes on</p>",
	} {
		if got := l.block(position{"x.md", 1}, markdown); got != want {
			t.Errorf("%s\n got %s\nwant %s", markdown, got, want)
		}
	}
	if err := l.problems.err(); err != nil {
		t.Error(err)
	}
}

// TestWordyTableNamesColumns: if the longest cells of a table's four columns have more than 80
// letters in total, each cell is labeled with the name of its column. The first table has 4 + 30 +
// 24 + 30 = 88 letters, and the second 4 + 30 + 12 + 30 = 76.
func TestWordyTableNamesColumns(t *testing.T) {
	l := newLoader(folderOf(nil), MathTable{})
	long := strings.Repeat("x", 30)
	head := "| row | does | good for | costs |\n|---|---|---|---|\n| name | " + long + " | "
	wordy := l.block(position{"x.md", 1}, head+strings.Repeat("y", 24)+" | "+long+" |\n")
	for _, want := range []string{
		`<table class="tc tc--stack">`, `<th scope="row">name</th>`, `<td data-head="good for">yyy`,
		`<td data-head="costs">xxx`,
	} {
		if !strings.Contains(wordy, want) {
			t.Errorf("%s is not in %s", want, wordy)
		}
	}
	if few := l.block(
		position{"x.md", 1}, head+strings.Repeat("y", 12)+" | "+long+" |\n",
	); strings.Contains(few, "stack") || strings.Contains(few, "data-head") {
		t.Errorf(
			"a table that fits is marked to be stacked: got %s, want it without %q and %q", few, "stack", "data-head",
		)
	}
}

// TestTableCellsMayContainPipes: a | within a figure or a term does not end a
// table's cell.
func TestTableCellsMayContainPipes(t *testing.T) {
	l := newLoader(folderOf(nil), MathTable{})
	l.targets["term:logits"] = true
	got := l.block(position{"x.md", 1}, "{.given}\n| | a | b |\n|---|--:|:-:|\n| [[logits|scores]] | 1 | `x` |\n")
	want := `<div class="scroll" tabindex="0" role="group" aria-label="Table"><table class="tc given">
<thead>
<tr>
<td></td>
<th scope="col" class="num">a</th>
<th scope="col" class="mid">b</th>
</tr>
</thead>
<tbody>
<tr>
<th scope="row"><a class="term" href="/glossary#logits">scores</a></th>
<td class="num">1</td>
<td class="mid"><code>x</code></td>
</tr>
</tbody>
</table></div>`
	if got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if err := l.problems.err(); err != nil {
		t.Error(err)
	}
}
