package chat

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/tokenbytoken/viz/infer/chat/jinja"
)

// Limits for rendering a chat. The slowest template within these limits takes a fraction of a
// second.
const (
	maxWork   = 2 << 20
	maxOutput = 1 << 20 // bytes
)

// Text is a chat, formatted as the text that the model continues.
type Text struct {
	Text string
	// Marks holds the byte offsets in Text of the special tokens that the template inserted. The
	// name of a special token typed by a user is never marked, even though it looks the same.
	Marks []int
	// IDs holds the token ids if they were given explicitly and differ from the encoding of Text.
	// In that case, Text contains the spelling of these tokens.
	IDs []int
}

// Template is a model's own format for chats. It is immutable.
type Template struct {
	template *jinja.Template
	tokens   map[string]string
	special  names
}

// Compile parses a Jinja template. tokens holds the special tokens that the template can refer to,
// such as bos_token, and special holds the names of all special tokens. An error names the
// unsupported part of the template.
func Compile(source string, tokens map[string]string, special []string) (*Template, error) {
	t, err := jinja.Parse(source)
	if err != nil {
		return nil, err
	}
	return &Template{t, tokens, newNames(special)}, nil
}

// Options holds the inputs of a chat other than its messages.
type Options struct {
	// Continue leaves the last message open, so the model continues it instead of beginning another
	// turn. The last message must be the model's.
	Continue bool
	// Values are additional variables of the template, such as enable_thinking: strings, integers
	// as int, float64, bool and nil. They must not include the variables that the program itself
	// sets (see [Own]).
	Values map[string]any
}

// Own reports whether the program itself sets the template variable with this name.
func Own(name string) bool {
	switch name {
	case "messages", "add_generation_prompt", "tools", "documents", "strftime_now", "raise_exception":
		return true
	}
	return strings.HasSuffix(name, "_token") // bos_token and similar names are special tokens
}

// Render formats a chat and begins the model's turn. An error is a *[jinja.Error]. If Raised is
// set, the template itself rejected the chat, for example because the roles do not alternate;
// otherwise, the template could not be rendered.
func (t *Template) Render(ctx context.Context, messages []Message, o Options, now time.Time) (Text, error) {
	return t.render(ctx, messages, o, true, now)
}

func (t *Template) render(
	ctx context.Context, messages []Message, o Options, turn bool, now time.Time,
) (Text, error) {
	mark, ok := unused(messages, o.Values)
	if !ok {
		return Text{}, errors.New("the messages contain all of the noncharacters U+FDD0 to U+FDEF")
	}
	open := ""
	if n := len(messages) - 1; o.Continue {
		messages, open = messages[:n], messages[n].Content
	}
	list := make([]jinja.Dict, len(messages))
	for i, m := range messages {
		list[i] = jinja.Dict{{Key: "role", Value: m.Role}, {Key: "content", Value: t.special.split(m.Content, mark)}}
	}
	values := map[string]any{}
	for name, v := range o.Values {
		if text, is := v.(string); is {
			v = t.special.split(text, mark)
		}
		values[name] = v
	}
	maps.Copy(values, map[string]any{
		"messages": list, "add_generation_prompt": turn, "tools": nil, "documents": nil,
		"strftime_now": jinja.StrftimeNow(now),
	})
	for name, text := range t.tokens {
		values[name] = text
	}
	written, err := t.template.Render(ctx, values, jinja.Limits{Work: maxWork, Output: maxOutput})
	if err != nil {
		return Text{}, err
	}
	return t.special.find(written+t.special.split(open, mark), mark), nil
}

// TurnEnd returns the name of the special token that ends the model's turn, or "" if the template
// does not end the turn with a special token.
func (t *Template) TurnEnd() string {
	const said = "words of the model"
	turns := []Message{{User, "words"}, {Assistant, said}}
	text, err := t.render(context.Background(), turns, Options{}, false, time.Time{})
	if err != nil {
		return ""
	}
	from := strings.LastIndex(text.Text, said)
	for _, at := range text.Marks {
		if from >= 0 && at >= from+len(said) && strings.TrimSpace(text.Text[from+len(said):at]) == "" {
			return t.special.at(text.Text[at:])
		}
	}
	return ""
}

// Fault returns a sentence that explains why a chat could not be rendered.
func Fault(err error) string {
	var e *jinja.Error
	switch {
	case errors.As(err, &e) && e.Raised:
		return fmt.Sprintf("The model's chat template rejects these messages: %s", strings.TrimSpace(e.Message))
	case e != nil:
		return fmt.Sprintf("The model's chat template cannot be used: %s.", e)
	}
	return fmt.Sprintf("These messages cannot be formatted as a chat: %v.", err)
}

// unused returns a character that Unicode reserves for internal use and that does not occur in any
// message or value.
func unused(messages []Message, values map[string]any) (rune, bool) {
	texts := make([]string, 0, len(messages)+len(values))
	for _, m := range messages {
		texts = append(texts, m.Content)
	}
	for _, v := range values {
		if text, is := v.(string); is {
			texts = append(texts, text)
		}
	}
	for r := rune(0xFDD0); r <= 0xFDEF; r++ {
		if !slices.ContainsFunc(texts, func(text string) bool { return strings.ContainsRune(text, r) }) {
			return r, true
		}
	}
	return 0, false
}

// names is a set of names of special tokens.
type names struct {
	all      map[string]bool
	lengths  [256][]int // of the names beginning with a given byte, longest first
	sorted   []string
	reversed []string // each reversed, sorted
}

func newNames(list []string) names {
	n := names{all: map[string]bool{}}
	for _, name := range list {
		if name == "" || n.all[name] {
			continue
		}
		n.all[name] = true
		n.sorted, n.reversed = append(n.sorted, name), append(n.reversed, reversed(name))
		lengths := &n.lengths[name[0]]
		if i, found := slices.BinarySearchFunc(*lengths, len(name), func(a, b int) int { return b - a }); !found {
			*lengths = slices.Insert(*lengths, i, len(name))
		}
	}
	slices.Sort(n.sorted)
	slices.Sort(n.reversed)
	return n
}

func reversed(s string) string {
	b := []byte(s)
	slices.Reverse(b)
	return string(b)
}

// at returns the longest name that is a prefix of a text, or "" if there is none.
func (n *names) at(text string) string {
	if text == "" {
		return ""
	}
	for _, length := range n.lengths[text[0]] {
		if length <= len(text) && n.all[text[:length]] {
			return text[:length]
		}
	}
	return ""
}

// split inserts a mark into every name in typed text. It also inserts a mark at each end of the
// text that could form a name together with the adjacent template text.
func (n *names) split(text string, mark rune) string {
	from := len(text) - len(strings.TrimLeftFunc(text, unicode.IsSpace))
	to := max(from, len(strings.TrimRightFunc(text, unicode.IsSpace)))
	var b strings.Builder
	for i, r := range text {
		if i == to && n.begins(text[:i]) || i == from && n.ends(text[i:]) {
			b.WriteRune(mark)
		}
		b.WriteRune(r)
		if n.at(text[i:]) != "" {
			b.WriteRune(mark)
		}
	}
	if to == len(text) && n.begins(text) {
		b.WriteRune(mark)
	}
	return b.String()
}

// begins reports whether a text ends with the start of a name.
func (n *names) begins(text string) bool { return half(n.sorted, text) }

// ends reports whether a text starts with the end of a name.
func (n *names) ends(text string) bool {
	return half(n.reversed, reversed(text[:min(len(text), longestName)]))
}

// longestName is the maximum number of bytes at either end of a typed text that are compared with a
// part of a special token's name.
const longestName = 256

// half reports whether a text ends with a proper prefix of a string in sorted.
func half(sorted []string, text string) bool {
	for n := 1; n <= min(len(text), longestName); n++ {
		end := text[len(text)-n:]
		i, _ := slices.BinarySearch(sorted, end)
		if i < len(sorted) && len(sorted[i]) > n && strings.HasPrefix(sorted[i], end) ||
			i+1 < len(sorted) && strings.HasPrefix(sorted[i+1], end) {
			return true
		}
	}
	return false
}

// find returns a text with its marks removed, and the offsets of the names that did not contain a
// mark.
func (n *names) find(text string, mark rune) Text {
	var b strings.Builder
	marks := []int(nil)
	plain := string(mark)
	for i := 0; i < len(text); {
		if strings.HasPrefix(text[i:], plain) {
			i += len(plain)
			continue
		}
		size := 1
		if name := n.at(text[i:]); name != "" {
			marks, size = append(marks, b.Len()), len(name)
		}
		b.WriteString(text[i : i+size])
		i += size
	}
	return Text{Text: b.String(), Marks: marks}
}
