package why

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
)

// MaxOff is the maximum number of parts and positions that can be off at once.
const MaxOff = 256

// ParseOff parses a list of parts and positions to switch off, such as L3.H2,L4.ffn,L5,pos:0. A
// block means all of its parts. The parts are returned in the model's order without duplicates.
// ParseOff does not check whether the positions exist in a text. Its errors are refusals.
func ParseOff(m *infer.Model, text string) (parts []infer.Part, positions []int, err error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil, nil
	}
	tooMany := terms.Refuse(terms.CodeRange, "explain.off.many", "most", MaxOff)
	if strings.Count(text, ",") >= MaxOff {
		return nil, nil, tooMany
	}
	for item := range strings.SplitSeq(text, ",") {
		item = strings.TrimSpace(item)
		if at, ok := strings.CutPrefix(item, "pos:"); ok {
			n, err := strconv.Atoi(at)
			if err != nil || n < 0 {
				return nil, nil, terms.Refuse(terms.CodeRange, "explain.off.position", "item", terms.Quoted(item))
			}
			positions = append(positions, n)
			continue
		}
		more, err := parseParts(m, item)
		if err != nil {
			return nil, nil, err
		}
		parts = append(parts, more...)
	}
	slices.Sort(positions)
	positions = slices.Compact(positions)
	off := map[infer.Part]bool{}
	for _, p := range parts {
		off[p] = true
	}
	parts = slices.DeleteFunc(m.Parts(), func(p infer.Part) bool { return !off[p] })
	if len(parts)+len(positions) > MaxOff {
		return nil, nil, tooMany
	}
	return parts, positions, nil
}

// parseParts parses a head, a feed-forward layer, a bias or a block.
func parseParts(m *infer.Model, item string) ([]infer.Part, error) {
	number, ok := strings.CutPrefix(strings.ToUpper(item), "L")
	number, rest, dotted := strings.Cut(number, ".")
	block, err := strconv.Atoi(number)
	if !ok || err != nil || dotted && rest == "" {
		return nil, terms.Refuse(terms.CodeRange, "explain.off.form", "item", terms.Quoted(item))
	}
	layers, heads := m.Config().Layers, m.Config().Heads
	if block < 1 || block > layers {
		return nil, terms.Refuse(
			terms.CodeRange, "explain.off.block", "item", terms.Quoted(item), "last", strconv.Itoa(layers),
		)
	}
	parts := m.BlockParts(block)
	if !dotted {
		return parts, nil
	}
	for _, p := range parts {
		if strings.EqualFold(p.String(), item) {
			return []infer.Part{p}, nil
		}
	}
	return nil, terms.Refuse(
		terms.CodeRange, "explain.off.part", "item", terms.Quoted(item), "last", strconv.Itoa(heads),
	)
}

// FormatOff formats parts and positions in the form that [ParseOff] parses. If all parts of a block
// are off, it lists the block instead.
func FormatOff(m *infer.Model, parts []infer.Part, positions []int) string {
	var items []string
	for block := range m.Config().Layers {
		all := m.BlockParts(block + 1)
		off := slices.DeleteFunc(slices.Clone(all), func(p infer.Part) bool { return !slices.Contains(parts, p) })
		if len(off) == len(all) {
			items = append(items, fmt.Sprintf("L%d", block+1))
			continue
		}
		for _, p := range off {
			items = append(items, p.String())
		}
	}
	for _, at := range positions {
		items = append(items, fmt.Sprintf("pos:%d", at))
	}
	return strings.Join(items, ",")
}

// maxTokenBytes is the maximum length of a text to look up as one token. No vocabulary has a longer
// token.
const maxTokenBytes = 4 << 10

// FindToken parses a token, given as its text or as #ID. The text must be exactly one token. If the
// text lacks a leading space, the token with the space also matches. Its errors are refusals, whose
// messages are clauses that follow a colon.
func FindToken(m *infer.Model, text string) (int, error) {
	if number, ok := strings.CutPrefix(text, "#"); ok && number != "" {
		id, err := strconv.Atoi(number)
		if err != nil || id < 0 || id >= m.Config().Vocab {
			return 0, terms.Refuse(
				terms.CodeRange, "explain.token.number", "last", strconv.Itoa(m.Config().Vocab-1),
			)
		}
		return id, nil
	}
	if text == "" {
		return 0, terms.Refuse(terms.CodeRange, "explain.token.none")
	}
	several := terms.Refuse(terms.CodeRange, "explain.token.several")
	if len(text) > maxTokenBytes {
		return 0, several
	}
	for _, form := range []string{text, " " + text} {
		ids := m.Encode(form)
		if m.Config().BOS >= 0 {
			ids = ids[1:]
		}
		if len(ids) == 1 && m.Token(ids[0]).Text == form {
			return ids[0], nil
		}
	}
	return 0, several
}
