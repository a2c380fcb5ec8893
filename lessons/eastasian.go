package lessons

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Markdown assumes spaces between words, which Chinese and Japanese do not have: a line break in
// the source would add a space to a sentence, and emphasis that ends with punctuation, as in
// **温度，**它, would need to be followed by a space (commonmark-spec issue 650).

// wide reports whether a character belongs to an East Asian script.
func wide(r rune) bool {
	switch util.EastAsianWidth(r) {
	case "W", "F", "H":
		return true
	}
	return false
}

// sharedMarks holds the punctuation that East Asian and other writing systems share.
const sharedMarks = "“”‘’…—·"

// joins reports whether the characters before and after a line break are joined without a space.
// Korean characters are not, since Korean uses spaces.
func joins(before, after rune) bool {
	if unicode.Is(unicode.Hangul, before) || unicode.Is(unicode.Hangul, after) {
		return false
	}
	return wide(before) && (wide(after) || strings.ContainsRune(sharedMarks, after)) ||
		wide(after) && strings.ContainsRune(sharedMarks, before)
}

// joinLines removes the line breaks in the source that do not represent a space.
func (p *fragment) joinLines() {
	_ = ast.Walk(p.doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := n.(*ast.Text); ok && entering && t.SoftLineBreak() && joins(p.around(t)) {
			t.SetSoftLineBreak(false)
		}
		return ast.WalkContinue, nil
	})
}

// around returns the characters before and after the line break that follows a text.
func (p *fragment) around(t *ast.Text) (before, after rune) {
	said := string(t.Segment.Value(p.source))
	if said == "" && t.PreviousSibling() != nil {
		said = p.text(t.PreviousSibling())
	}
	next := ast.Node(t)
	for next.NextSibling() == nil && next.Parent() != nil && next.Parent().Type() == ast.TypeInline {
		next = next.Parent()
	}
	if next = next.NextSibling(); next == nil {
		return 0, 0
	}
	before, _ = utf8.DecodeLastRuneInString(said)
	after, _ = utf8.DecodeRuneInString(p.text(next))
	return before, after
}

// emphasisParser parses asterisks next to East Asian characters. All others are left to Markdown's
// own parser.
type emphasisParser struct{ parser.InlineParser }

func newEmphasisParser() parser.InlineParser { return emphasisParser{parser.NewEmphasisParser()} }

// Trigger implements [parser.InlineParser].
func (emphasisParser) Trigger() []byte { return []byte{'*'} }

// Parse implements [parser.InlineParser].
func (e emphasisParser) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	before := block.PrecendingCharacter()
	node := e.InlineParser.Parse(parent, block, pc)
	run, ok := node.(*parser.Delimiter)
	if !ok {
		return node
	}
	after := '\n'
	if line, _ := block.PeekLine(); len(line) > 0 {
		after, _ = utf8.DecodeRune(line)
	}
	if wide(before) || wide(after) { // ignore punctuation on the other side
		run.CanOpen, run.CanClose = !util.IsSpaceRune(after), !util.IsSpaceRune(before)
	}
	return node
}
