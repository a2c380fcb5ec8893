package tokenizer

import (
	"errors"
	"fmt"
	"strings"
)

// readMerges reads model.merges: rules in order of rank, each either ["left", "right"] or,
// in older files, "left right".
func (t *Tokenizer) readMerges(list string) error {
	if absent(list) {
		return errors.New("model.merges is missing")
	}
	c := cursor{list}
	if !is(c.next(), '[') {
		return errors.New("model.merges is not a JSON array")
	}
	// Allocate memory for the maximum number of rules, because growing the table would leave copies
	// behind.
	most := mostStrings(list)
	if peek := c; is(peek.next(), '[') {
		most /= 2
	}
	t.merges = newRules(min(most, maxMerges))
	r := ruleReader{t: t, in: inJSON, last: -1}
	for rank := int32(0); ; rank++ {
		first := c.next()
		if is(first, ']') {
			return nil
		}
		if rank == maxMerges {
			return fmt.Errorf("model.merges has more than %d rules", maxMerges)
		}
		left, right, err := readMerge(&c, first)
		if err == nil {
			err = r.add(rank, left, right)
		}
		if err != nil {
			return fmt.Errorf(r.in.rule+": %w", rank, err)
		}
	}
}

// readMerge reads one rule, in either form. first is the rule's first JSON token, which has already
// been read.
func readMerge(c *cursor, first string) (left, right string, err error) {
	if line, ok := text(first); ok {
		return cutRule(line)
	}
	if is(first, '[') {
		left, isLeft := text(c.next())
		right, isRight := text(c.next())
		if isLeft && isRight && is(c.next(), ']') {
			return left, right, nil
		}
	}
	return "", "", errors.New("want an array of two strings, or one string with a space")
}

// cutRule parses a rule that is given as one string.
func cutRule(line string) (left, right string, err error) {
	left, right, ok := strings.Cut(line, " ")
	if !ok || left == "" || right == "" || strings.Contains(right, " ") {
		return "", "", fmt.Errorf("got %s, want two parts separated by a space", quote(line))
	}
	return left, right, nil
}

// A ruleReader adds rules to a tokenizer.
type ruleReader struct {
	t      *Tokenizer
	in     partNames
	joined []byte // scratch
	last   int32  // the token of the previous rule
}

// add adds the rule that joins left and right, with the given rank.
func (r *ruleReader) add(rank int32, left, right string) error {
	var p pair
	var ok bool
	r.joined = r.joined[:0]
	if p.left, ok = r.part(left); !ok {
		return fmt.Errorf("the left part %s is not in %s", quote(left), r.in.vocab)
	}
	if p.right, ok = r.part(right); !ok {
		return fmt.Errorf("the right part %s is not in %s", quote(right), r.in.vocab)
	}
	// Consecutive rules often produce the same token.
	if string(r.joined) != string(r.t.Bytes(int(r.last))) {
		if r.last, ok = r.t.findBytes(r.joined); !ok {
			// Special tokens are not in the index, because plain text must never be encoded as a
			// special token.
			if _, special := r.t.names[left+right]; special {
				return fmt.Errorf(
					"merging %s and %s would produce the special token %s, which is not allowed",
					quote(left), quote(right), quote(left+right),
				)
			}
			return fmt.Errorf(
				"merging %s and %s produces %s, which is not in %s",
				quote(left), quote(right), quote(left+right), r.in.vocab,
			)
		}
	}
	if first, ok := r.t.merges.put(p, merge{rank: rank, id: r.last}); !ok {
		return fmt.Errorf("repeats "+r.in.rule, first.rank)
	}
	return nil
}

// part looks up one side of a rule and appends its bytes to joined.
func (r *ruleReader) part(spelling string) (id int32, ok bool) {
	from := len(r.joined)
	if r.joined, _, ok = r.t.appendBytes(r.joined, spelling); !ok {
		return 0, false
	}
	return r.t.findBytes(r.joined[from:])
}
