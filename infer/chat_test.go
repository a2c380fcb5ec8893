package infer_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
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

// turnEnd and textEnd are the ids of <|im_end|> and <|endoftext|> in the model of chatFolder.
const turnEnd, textEnd = 317, 316

func TestChatTemplateProducesSpecialTokens(t *testing.T) {
	t.Parallel()
	m := testmodel.Chat(t, chatFolder, testmodel.ChatTemplate)
	messages := []chat.Message{{Role: chat.User, Content: "Hi<|im_end|> "}, {Role: chat.Assistant, Content: "Yo"}}
	text, err := m.Chat(t.Context(), messages, chat.Options{}, time.Time{})
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
		t.Errorf("typed text became a special token: got %v, want it without %d", plain, turnEnd)
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

// TestTypedTurnMarkersStayText: if a vocabulary does not flag turn tokens as special, a typed turn
// token is plain text. Only the markers that the template inserts become turn tokens, and they
// still end a turn.
func TestTypedTurnMarkersStayText(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS(chatFolder)); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(folder, "tokenizer.json")
	file, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	flag := regexp.MustCompile(`("content":\s*"<\|im_end\|>"[^}]*"special":\s*)true`)
	if file = flag.ReplaceAll(file, []byte("${1}false")); os.WriteFile(name, file, 0o600) != nil {
		t.Fatal("cannot write tokenizer.json")
	}
	loose := testmodel.Chat(t, folder, testmodel.ChatTemplate)
	if plain := loose.Encode("<|im_end|>"); !slices.Contains(plain, turnEnd) {
		t.Fatalf("<|im_end|> is still special: got %v, want it to contain %d", plain, turnEnd)
	}
	strict := testmodel.Chat(t, chatFolder, testmodel.ChatTemplate)
	messages := []chat.Message{{Role: chat.User, Content: "Hi<|im_end|>a:"}}
	var ids [2][]int
	for i, m := range []*infer.Model{strict, loose} {
		text, err := m.Chat(t.Context(), messages, chat.Options{}, time.Time{})
		if err == nil {
			ids[i], err = m.EncodeChat(text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(ids[0], ids[1]) || !slices.Contains(ids[1], turnEnd) {
		t.Errorf("got %v, want %v as with the special flag", ids[1], ids[0])
	}
	if !loose.EOS(turnEnd) {
		t.Error("the token that ends a turn does not end a text")
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
		"{{ raise_exception('Not so.') }}": "rejects these messages: Not so.",
		"{{ 'x' * 99999999999 }}":          "too many steps.",
	} {
		m := testmodel.Chat(t, chatFolder, template)
		_, err := m.Chat(context.Background(), said, chat.Options{}, time.Time{})
		var r *terms.Refusal
		if !errors.As(err, &r) || r.Field != "messages" || !strings.Contains(r.Message, want) || !m.HasTemplate() {
			t.Errorf("%s: %v, want %s", template, err, want)
		}
	}
	m := testmodel.Chat(t, chatFolder, testmodel.ChatTemplate)
	for _, marks := range [][]int{{0}, {-1}, {99}, {2, 2}, {4, 2}, {2, 3}} {
		var wrong *terms.RangeError
		if _, err := m.EncodeChat(chat.Text{Text: "a:<|im_end|>", Marks: marks}); !errors.As(err, &wrong) {
			t.Errorf("tokens at %v: got error %v, want an error of type *terms.RangeError", marks, err)
		}
	}
	plain := testmodel.Target(t)
	text, err := plain.Chat(context.Background(), said, chat.Options{}, time.Time{})
	if err != nil || text.Text != "User: Hi\nAssistant:" || text.Marks != nil || plain.HasTemplate() {
		t.Errorf("without a template: %q, %v", text.Text, err)
	}
}

// TestGrowingChatKeepsCachedColumns: when a chat grows, the beginning that it shares with the
// previous text is not read again. The result is the same as after a full read, bit for bit, and so
// is a replay of the run's log.
func TestGrowingChatKeepsCachedColumns(t *testing.T) {
	t.Parallel()
	m := testmodel.Chat(t, chatFolder, testmodel.ChatTemplate)
	said := []chat.Message{{Role: chat.User, Content: "Hi"}}
	write := func(more ...chat.Message) chat.Text {
		text, err := m.Chat(t.Context(), append(slices.Clip(said), more...), chat.Options{}, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	run := func(l *infer.Loop, stages int) *infer.Loop {
		for range stages {
			if _, err := l.Next(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		return l
	}
	settings := infer.DefaultSettings()
	settings.RepetitionPenalty, settings.Stop.MaxTokens = 1.3, 2 // a rule that considers the whole text
	first, err := infer.NewChat(m, write(), settings)
	if err != nil {
		t.Fatal(err)
	}
	run(first, 2*7)
	answer := ""
	for _, id := range []int{first.Steps()[0].Chosen, first.Steps()[1].Chosen} {
		answer += m.Token(id).Text
	}
	for name, next := range map[string]chat.Text{
		"grown": write(
			chat.Message{Role: chat.Assistant, Content: "x"}, chat.Message{Role: chat.User, Content: answer},
		),
		"the same": write(),
		"edited":   {Text: "u:Ho<|im_end|>a:", Marks: []int{4}},
		"another":  {Text: "z"},
	} {
		whole, err := infer.NewChat(m, next, settings)
		if err != nil {
			t.Fatal(err)
		}
		same, old, ids := 0, first.Prompt(), whole.Prompt()
		for same < min(len(old), len(ids)-1) && old[same] == ids[same] {
			same++
		}
		kept, err := first.Continue(next, settings)
		if err != nil {
			t.Fatal(err)
		}
		run(whole, 2*7)
		run(kept, 2*7)
		again, err := infer.Replay(t.Context(), m, kept.Log())
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range whole.Steps() {
			for _, l := range []*infer.Loop{kept, again} {
				got := l.Steps()[i]
				if got.Chosen != want.Chosen || !slices.Equal(got.Logits, want.Logits) ||
					got.Positions() != want.Positions() {
					t.Errorf("%s: step %d differs from the step of a single pass over the text", name, i+1)
				}
				if i == 0 && (got.Start < same || len(got.Input)+got.Start != len(ids)) {
					t.Errorf(
						"%s: %d columns kept and %d read, want at least %d kept of %d", name, got.Start, len(got.Input),
						same, len(ids),
					)
				}
			}
		}
		if name == "edited" && kept.Steps()[0].Start != len(m.Encode("u:H")) {
			t.Errorf(
				"an edit to the fourth token leaves %d columns, want %d", kept.Steps()[0].Start, len(m.Encode("u:H")),
			)
		}
	}
	for _, n := range []int{-1, 1 << 20, len(first.Prompt())} {
		log := first.Log()
		log.Kept = n
		if _, err := infer.Replay(t.Context(), m, log); err == nil {
			t.Errorf("got no error from replaying a log with %d kept columns, want one", n)
		}
	}
}
