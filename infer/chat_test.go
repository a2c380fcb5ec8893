package infer_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/chat"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/infer/testmodel"
)

const chatFolder = "../testdata/models/qwen3"

// turnEnd is the id of <|im_end|> there, textEnd that of <|endoftext|>.
const turnEnd, textEnd = 317, 316

func TestChatsAreTokens(t *testing.T) {
	t.Parallel()
	m := testmodel.Chat(t, chatFolder, testmodel.ChatTemplate)
	messages := []chat.Message{{Role: chat.User, Content: "Hi<|im_end|> "}, {Role: chat.Assistant, Content: "Yo"}}
	text, err := m.Chat(t.Context(), messages, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	said := "u:Hi<|im_end|><|im_end|>a:Yo<|im_end|>a:"
	if text.Text != said || !slices.Equal(text.Marks, []int{14, 28}) {
		t.Fatalf("got %q with tokens at %v, want %q at 14 and 28", text.Text, text.Marks, said)
	}
	got, err := m.EncodeChat(text)
	if err != nil {
		t.Fatal(err)
	}
	want := slices.Concat(m.Encode("u:Hi<|im_end|>"), []int{turnEnd}, m.Encode("a:Yo"), []int{turnEnd}, m.Encode("a:"))
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if plain := m.Encode(text.Text); slices.Contains(plain, turnEnd) {
		t.Errorf("typed text became a special token: %v", plain)
	}
	l, err := infer.NewChat(m, text, infer.DefaultSettings())
	if err != nil {
		t.Fatal(err)
	}
	for range 7 {
		if _, err := l.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	again, err := infer.Replay(t.Context(), m, l.Log())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(again.Prompt(), want) || again.Steps()[0].Chosen != l.Steps()[0].Chosen {
		t.Errorf("replayed on %v, want %v", again.Prompt(), want)
	}
}

func TestEndOfTurnEndsTheText(t *testing.T) {
	t.Parallel()
	m := testmodel.Chat(t, chatFolder, "{% for m in messages %}{{ m.content }}<|endoftext|>{% endfor %}")
	if !m.EOS(textEnd) || !m.EOS(turnEnd) || len(m.Config().EOS) != 2 {
		t.Errorf("texts end at %v, want the file's %d and the template's %d", m.Config().EOS, turnEnd, textEnd)
	}
	if m := testmodel.Chat(t, chatFolder, testmodel.ChatTemplate); m.EOS(textEnd) || len(m.Config().EOS) != 1 {
		t.Errorf("texts end at %v, want %d", m.Config().EOS, turnEnd)
	}
}

func TestChatsThatAreRefused(t *testing.T) {
	t.Parallel()
	said := []chat.Message{{Role: chat.User, Content: "Hi"}}
	for template, want := range map[string]string{
		"{% include 'x' %}":                "cannot be used: line 1: the tag \"include\" is not supported.",
		"{{ raise_exception('Not so.') }}": "refuses these messages: Not so.",
		"{{ 'x' * 99999999999 }}":          "too much work.",
	} {
		m := testmodel.Chat(t, chatFolder, template)
		_, err := m.Chat(context.Background(), said, time.Time{})
		var r *terms.Refusal
		if !errors.As(err, &r) || r.Field != "messages" || !strings.Contains(r.Message, want) || !m.HasTemplate() {
			t.Errorf("%s: %v, want %s", template, err, want)
		}
	}
	m := testmodel.Chat(t, chatFolder, testmodel.ChatTemplate)
	for _, marks := range [][]int{{0}, {-1}, {99}, {2, 2}, {4, 2}, {2, 3}} {
		var wrong *terms.RangeError
		if _, err := m.EncodeChat(chat.Text{Text: "a:<|im_end|>", Marks: marks}); !errors.As(err, &wrong) {
			t.Errorf("tokens at %v: %v", marks, err)
		}
	}
	plain := testmodel.Target(t)
	text, err := plain.Chat(context.Background(), said, time.Time{})
	if err != nil || text.Text != "User: Hi\nAssistant:" || text.Marks != nil || plain.HasTemplate() {
		t.Errorf("without a template: %q, %v", text.Text, err)
	}
}
