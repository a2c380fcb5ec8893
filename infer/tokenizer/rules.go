package tokenizer

import (
	"errors"
	"fmt"
	"strings"
)

// readMerges reads model.merges: rules in order of rank, each either
// ["left", "right"] or, as older files have it, "left right".
func (t *Tokenizer) readMerges(list string) error {
	if absent(list) {
		return errors.New("model.merges is missing")
	}
	c := cursor{list}
	if !is(c.next(), '[') {
		return errors.New("model.merges is not a JSON array")
	}
	// As many as there may be; growing would leave copies behind.
	most := mostStrings(list)
	if peek := c; is(peek.next(), '[') {
		most /= 2
	}
	t.merges = make(map[pair]merge, min(most, maxMerges))
	var scratch []byte
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
			scratch, err = t.addMerge(rank, left, right, scratch[:0])
		}
		if err != nil {
			return fmt.Errorf("model.merges[%d]: %w", rank, err)
		}
	}
}

// readMerge reads one rule, in either form, that begins with the token first.
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
	return "", "", errors.New("want a pair of strings, or one string with a space in it")
}

// cutRule reads a rule that is one text.
func cutRule(line string) (left, right string, err error) {
	left, right, ok := strings.Cut(line, " ")
	if !ok || left == "" || right == "" || strings.Contains(right, " ") {
		return "", "", fmt.Errorf("%s is not two parts with a space between", quote(line))
	}
	return left, right, nil
}

// addMerge adds the rule that joins left and right. It returns scratch, grown
// where needed.
func (t *Tokenizer) addMerge(rank int32, left, right string, scratch []byte) ([]byte, error) {
	var ids [2]int32
	joined := scratch
	for i, part := range []string{left, right} {
		from := len(joined)
		var ok bool
		if joined, _, ok = t.appendBytes(joined, part); ok {
			ids[i], ok = t.ids[string(joined[from:])]
		}
		if !ok {
			return joined, fmt.Errorf("the %s part %s is not in model.vocab", [...]string{"left", "right"}[i], quote(part))
		}
	}
	into, ok := t.ids[string(joined)]
	if !ok {
		// A special token is not in t.ids: plain text must never reach its id.
		if _, special := t.names[left+right]; special {
			return joined, fmt.Errorf("%s and %s make the special token %s", quote(left), quote(right), quote(left+right))
		}
		return joined, fmt.Errorf("%s and %s make %s, which is not in model.vocab", quote(left), quote(right), quote(left+right))
	}
	key := pair{ids[0], ids[1]}
	if first, taken := t.merges[key]; taken {
		return joined, fmt.Errorf("repeats model.merges[%d]", first.rank)
	}
	t.merges[key] = merge{rank: rank, id: into}
	return joined, nil
}
