package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/chat"
	"github.com/tokenbytoken/viz/infer/terms"
)

// MaxMessages is the maximum number of messages in a chat. Their total length is bounded by the
// maximum length of a prompt.
const MaxMessages = 64

// Chat is the conversation from which a text was formatted, up to the point where the model
// continues. It is immutable.
type Chat struct {
	Messages []chat.Message
	At       int64 // when it was formatted, in Unix seconds; some templates include the date
}

// StartChat is [Start] for a conversation. The model's chat template formats the conversation as
// one text, which the model continues. Without a template, it is formatted as plain lines, and the
// stop string [chat.PlainStop] is set. The cache columns that the text shares with the previous
// text are kept.
type StartChat struct{ Chat Chat }

// Messages returns the conversation, including the text that the model has generated so far. It
// returns nil if the text is not a chat.
func (s *State) Messages() []chat.Message {
	if s.Chat == nil {
		return nil
	}
	var said strings.Builder
	for _, step := range s.Steps {
		said.WriteString(step.Text)
	}
	return append(slices.Clip(s.Chat.Messages), chat.Message{Role: chat.Assistant, Content: said.String()})
}

// Write formats a conversation as the text that a model continues. If the conversation cannot be
// formatted, or if the result is not a valid prompt, the error is a [*terms.Refusal] for the field
// "messages".
func (c Chat) Write(ctx context.Context, m *infer.Model, l Limits) (text chat.Text, err error) {
	if n := len(c.Messages); n == 0 || n > MaxMessages {
		return text, terms.RefuseField(fieldMessages, terms.PhraseOf("got.list", "n", fmt.Sprint(n)), wantMessages)
	}
	total := 0
	for i, said := range c.Messages {
		total += len(said.Content)
		if !slices.Contains(chat.Roles, said.Role) {
			return text, terms.RefuseField(
				fieldMessages,
				terms.PhraseOf("run.got.role", "n", fmt.Sprint(i+1), "role", terms.Quoted(said.Role)), wantMessages,
			)
		}
	}
	if total > l.PromptBytes { // too long for any template
		return text, terms.RefuseField(
			fieldMessages, terms.PhraseOf("got.bytes", "n", fmt.Sprint(total)), infer.WantBytes(l.PromptBytes),
		)
	}
	if text, err = m.Chat(ctx, c.Messages, chat.Options{}, time.Unix(c.At, 0).UTC()); err == nil {
		if err = m.CheckPrompt(text.Text, l.PromptBytes); err == nil {
			if len(text.Text) <= infer.MaxSampleBytes { // the page also shows a text that does not fit
				_, err = m.EncodeChat(text)
			} else {
				_, err = m.Fit(text)
			}
		}
	}
	return text, ofMessages(err)
}

// ofMessages converts an error about a text to a refusal of the messages from which the text was
// formatted.
func ofMessages(err error) error {
	if r := new(terms.RangeError); errors.As(err, &r) && r.Field == "prompt" {
		return terms.RefuseField(fieldMessages, r.Got, r.Want)
	}
	return err
}

// fieldMessages is the name of the command field that holds a conversation. wantMessages describes
// the values that the field accepts.
const fieldMessages = "messages"

var wantMessages = terms.PhraseOf(
	"run.want.messages", "most", fmt.Sprint(MaxMessages), "roles", strings.Join(chat.Roles, ", "),
)

// startChat begins a text that is formatted from a conversation.
func (s *Session) startChat(ctx context.Context, next *State, c Chat) error {
	text, err := c.Write(ctx, s.model, s.limits)
	if err != nil {
		return err
	}
	stops := &next.Settings.Stop.Strings
	if s.endsInPlain() && next.Settings.Grammar == "" && !slices.ContainsFunc(*stops, endsPlainTurn) {
		*stops = append(slices.Clip(*stops), chat.PlainStop)
	}
	return ofMessages(s.start(ctx, next, text, &c))
}

// endsInPlain reports whether this model's chats are plain lines, in which a stop string ends the
// model's turn.
func (s *Session) endsInPlain() bool { return !s.model.HasTemplate() }

// endsPlainTurn reports whether a stop string ends the model's turn in plain lines.
func endsPlainTurn(stop string) bool { return strings.Contains(chat.PlainStop, stop) }

// endChat removes the stop string that the chat set.
func (s *Session) endChat(next *State) {
	if s.state.Chat == nil || !s.endsInPlain() {
		return
	}
	var left []string // nil if empty, as in a restored run
	for _, stop := range next.Settings.Stop.Strings {
		if stop != chat.PlainStop {
			left = append(left, stop)
		}
	}
	next.Settings.Stop.Strings = left
}

// chatOf returns c if formatting it still produces the given text, and nil otherwise. The text can
// differ because a link was edited or because a template has changed.
func (s *Session) chatOf(ctx context.Context, c *Chat, text chat.Text) *Chat {
	if c == nil {
		return nil
	}
	again, err := c.Write(ctx, s.model, s.limits)
	if err != nil || again.Text != text.Text || !slices.Equal(again.Marks, text.Marks) {
		return nil
	}
	return c
}
