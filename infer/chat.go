package infer

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/tokenbytoken/viz/infer/chat"
	"github.com/tokenbytoken/viz/infer/checkpoint"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/infer/tokenizer"
)

// readTemplate reads the model's chat template. An unusable template is not an error here;
// [Model.Chat] returns the error. The token that ends a turn in the template becomes an end-of-text
// token.
func (m *Model) readTemplate(c *checkpoint.Checkpoint) {
	if c.Template == "" {
		return
	}
	var special []string
	for id := range m.tok.Size() {
		if name, ok := m.tok.Special(id); ok {
			special = append(special, name)
		}
	}
	written := chat.Written(c.Template, m.tok.Added())
	m.chat, m.chatFault = chat.Compile(c.Template, c.TemplateTokens, append(special, written...))
	if m.chatFault != nil {
		return
	}
	if len(written) > 0 {
		m.chatTok = m.tok.Marking(written)
	}
	if id, ok := cmp.Or(m.chatTok, m.tok).SpecialID(m.chat.TurnEnd()); ok && !m.eos[id] {
		m.eos, m.config.EOS = maps.Clone(m.eos), append(slices.Clip(m.config.EOS), id)
		m.eos[id] = true
	}
}

// HasTemplate reports whether the model's files have a chat template, usable or not. A
// model without one was not trained on chats.
func (m *Model) HasTemplate() bool { return m.chat != nil || m.chatFault != nil }

// Chat formats a conversation as the text that the model continues, with the model's own chat
// template, or as plain lines if the model does not have a template. now is the date that some
// templates mention. If the conversation cannot be formatted, Chat returns a *[terms.Refusal].
func (m *Model) Chat(
	ctx context.Context, messages []chat.Message, o chat.Options, now time.Time,
) (chat.Text, error) {
	switch {
	case m.HasTemplate():
	case o.Continue:
		return chat.Text{Text: chat.PlainOpen(messages)}, nil
	default:
		return chat.Text{Text: chat.Plain(messages)}, nil
	}
	err := m.chatFault
	if err == nil {
		var text chat.Text
		if text, err = m.chat.Render(ctx, messages, o, now); err == nil {
			return text, nil
		}
	}
	return chat.Text{}, &terms.Refusal{Code: terms.CodeRange, Field: "messages", Message: chat.Fault(err)}
}

// EncodeChat is [Model.Encode] for a text with special tokens. A text without special tokens is
// treated as plain text, so the start token is added; in a chat, the template decides whether there
// is a start token. If the vocabulary cannot spell the text, EncodeChat returns a
// *[terms.RangeError].
func (m *Model) EncodeChat(text chat.Text) ([]int, error) {
	if text.IDs != nil {
		if err := m.CheckIDs(text.IDs); err != nil {
			return nil, err
		}
		if m.spelled(text.IDs).Text != text.Text {
			return nil, terms.NewRangeError(
				"prompt", terms.PhraseOf("got.prompt.ids"), terms.PhraseOf("want.prompt.ids"),
			)
		}
		return text.IDs, nil
	}
	if len(text.Marks) == 0 {
		return m.Encode(text.Text), m.CheckText(text.Text)
	}
	ids, err := cmp.Or(m.chatTok, m.tok).EncodeMarked(text.Text, text.Marks)
	if errors.As(err, new(*tokenizer.MissingByteError)) {
		return nil, unspelled(err)
	} else if err != nil {
		return nil, terms.NewRangeError(
			"prompt", terms.PhraseOf("got.prompt.chat", "why", err.Error()), terms.PhraseOf("want.prompt.chat"),
		)
	}
	return ids, nil
}
