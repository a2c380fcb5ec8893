package lessons

import (
	"fmt"
	"html"
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"
)

// text returns a node as plain text, for search, exported cards, and labels for screen readers.
// Paragraphs, list items and rows are separate lines. Formulas are spelled out in plain characters
// as far as possible.
func (p *fragment) text(n ast.Node) string {
	var b strings.Builder
	p.write(&b, n)
	lines := strings.Split(b.String(), "\n")
	kept := lines[:0]
	for _, line := range lines {
		if line = strings.TrimRight(line, " "); strings.TrimSpace(line) != "" {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}

func (p *fragment) write(b *strings.Builder, n ast.Node) {
	switch n := n.(type) {
	case *ast.Text:
		value := n.Segment.Value(p.source)
		b.Write(util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(value))))
		if n.SoftLineBreak() {
			b.WriteByte(' ')
		} else if n.HardLineBreak() {
			b.WriteByte('\n')
		}
		return
	case *ast.String:
		b.WriteString(html.UnescapeString(string(n.Value)))
		return
	case *ast.CodeSpan:
		b.WriteString(codeText(n, p.source))
		return
	case *ast.FencedCodeBlock:
		b.WriteString(linesText(n, p.source))
		return
	case *ast.AutoLink:
		b.Write(n.URL(p.source))
		return
	case *formula:
		b.WriteString(plainTeX(n.tex))
		return
	case *display:
		b.WriteString(plainTeX(n.tex) + "\n")
		return
	case *figureNode:
		b.WriteString(n.text)
	case *givenNode:
		b.WriteString(n.text)
	case *termNode:
		b.WriteString(n.text)
	case *citeNode:
		var names []string
		for _, r := range n.works {
			names = append(names, r.Short)
		}
		b.WriteString("(" + strings.Join(names, "; ") + ")")
	}
	p.writeChildren(b, n)
}

func (p *fragment) writeChildren(b *strings.Builder, n ast.Node) {
	if n.Type() == ast.TypeBlock && n.PreviousSibling() != nil && n.Kind() != extast.KindTableCell {
		b.WriteByte('\n')
	}
	if item, ok := n.(*ast.ListItem); ok {
		list := item.Parent().(*ast.List)
		mark := "– "
		if list.IsOrdered() {
			at := list.Start
			for s := item.PreviousSibling(); s != nil; s = s.PreviousSibling() {
				at++
			}
			mark = fmt.Sprintf("%d. ", at)
		}
		b.WriteString(mark)
	}
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if c.Kind() == extast.KindTableCell && c.PreviousSibling() != nil {
			b.WriteString(" · ")
		}
		p.write(b, c)
	}
	if n.Type() == ast.TypeBlock && n.NextSibling() != nil && n.Kind() != extast.KindTableCell {
		b.WriteByte('\n')
	}
}

var (
	texFraction = regexp.MustCompile(`\\[dt]?frac\{([^{}]*)\}\{([^{}]*)\}`)
	texText     = regexp.MustCompile(`\\(?:text|mathrm|operatorname|mathbf)\{([^{}]*)\}`)
	texScript   = regexp.MustCompile(`([_^])\{([^{}]*)\}`)
	texRoot     = regexp.MustCompile(`\\sqrt\{([^{}]*)\}`)
	texCommand  = regexp.MustCompile(`\\[A-Za-z]+`)
	texSpaces   = regexp.MustCompile(`[ \n\t]+`)
)

// texWords maps TeX names to signs.
var texWords = map[string]string{
	`\alpha`: "α", `\beta`: "β", `\gamma`: "γ", `\lambda`: "λ", `\theta`: "θ", `\sum`: "Σ", `\prod`: "Π",
	`\times`: "×", `\cdot`: "·", `\le`: "≤", `\leq`: "≤", `\ge`: "≥", `\geq`: "≥", `\ne`: "≠", `\neq`: "≠",
	`\approx`: "≈", `\to`: "→", `\rightarrow`: "→", `\infty`: "∞", `\in`: "∈", `\min`: "min", `\max`: "max",
	`\log`: "log", `\ln`: "ln", `\exp`: "exp", `\lim`: "lim", `\ldots`: "…", `\dots`: "…", `\cdots`: "…",
	`\pm`: "±", `\propto`: "∝", `\sqrt`: "√", `\left`: "", `\right`: "", `\quad`: " ", `\qquad`: " ", `\big`: "",
	`\bigl`: "", `\bigr`: "",
	`\lfloor`: "⌊", `\rfloor`: "⌋", `\lceil`: "⌈", `\rceil`: "⌉", `\mid`: "|", `\vert`: "|", `\lvert`: "|",
	`\rvert`: "|",
}

// plainTeX returns a formula as one line of text, such as (a)/(b) for a fraction and x_i for an
// index.
func plainTeX(tex string) string {
	s := strings.NewReplacer(`{,}`, ",", `\,`, " ", `\;`, " ", `\:`, " ", `\!`, "", `\ `, " ", `\%`, "%", `\$`, "$",
		`\{`, "⦃", `\}`, "⦄", `\\`, "; ", "&", "").Replace(tex)
	for range 8 { // innermost groups first
		before := s
		s = texText.ReplaceAllString(s, "$1")
		s = texScript.ReplaceAllStringFunc(s, func(m string) string {
			inner := m[2 : len(m)-1]
			if len([]rune(inner)) == 1 {
				return m[:1] + inner
			}
			return m[:1] + "(" + inner + ")"
		})
		s = texRoot.ReplaceAllString(s, "√($1)")
		s = texFraction.ReplaceAllString(s, "($1)/($2)")
		if s == before {
			break
		}
	}
	s = texCommand.ReplaceAllStringFunc(s, func(command string) string {
		if sign, ok := texWords[command]; ok {
			return sign
		}
		return strings.TrimPrefix(command, `\`)
	})
	s = strings.NewReplacer("{", "", "}", "", "⦃", "{", "⦄", "}", "-", "−").Replace(s)
	return strings.TrimSpace(texSpaces.ReplaceAllString(s, " "))
}
