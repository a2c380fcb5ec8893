package infer_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/chat"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/infer/testmodel"
)

// TestPromptOfTokenIDs: PromptOf converts the tokens of a text back to the text, with or without
// the start token. A list of tokens that no text encodes to is kept unchanged.
func TestPromptOfTokenIDs(t *testing.T) {
	t.Parallel()
	m := testmodel.Target(t)
	for _, text := range []string{"The capital of France is", "Ünïcödé — “x”", ""} {
		ids := m.Encode(text)
		for _, given := range [][]int{ids, ids[1:]} {
			got, err := m.PromptOf(given)
			if err != nil || got.Text != text || got.IDs != nil {
				t.Errorf("%v: got %+v, %v; want the text %q alone", given, got, err, text)
			}
		}
	}
	// One list contains the tokens of the individual letters of " France", and the other a token
	// that is half a character.
	for _, given := range [][]int{letters(t, m, " France"), m.Encode("é")[1:2]} {
		got, err := m.PromptOf(given)
		want := append([]int{m.Config().BOS}, given...)
		if err != nil || !slices.Equal(got.IDs, want) {
			t.Fatalf("%v: got %+v, %v; want the tokens %v", given, got, err, want)
		}
		if ids, err := m.EncodeChat(got); err != nil || !slices.Equal(ids, want) {
			t.Errorf("%v: encoded as %v, %v; want %v", given, ids, err, want)
		}
		got.Text += "!"
		if _, err := m.EncodeChat(got); err == nil {
			t.Errorf("%v: a text that its tokens do not spell was encoded; want an error", given)
		}
	}
	for name, given := range map[string][]int{
		"negative": {-1}, "beyond the vocabulary": {m.Config().Vocab},
		"too many": slices.Repeat([]int{5}, m.Config().Context),
	} {
		_, err := m.PromptOf(given)
		if r := new(terms.RangeError); !errors.As(err, &r) || r.Field != "prompt" {
			t.Errorf("%s: got %v, want a range error for the prompt", name, err)
		}
	}
}

// letters returns the tokens of the individual bytes of a text.
func letters(t *testing.T, m *infer.Model, text string) (ids []int) {
	t.Helper()
	for _, b := range []byte(text) {
		id, ok := m.TokenOf(string(b))
		if !ok {
			t.Fatalf("the vocabulary has no token for %q", b)
		}
		ids = append(ids, id)
	}
	return ids
}

// TestPromptOfTemplatesTokens: PromptOf converts the tokens of a chat back to its text, with
// special tokens marked.
func TestPromptOfTemplatesTokens(t *testing.T) {
	t.Parallel()
	m := testmodel.Chat(t, chatFolder, testmodel.ChatTemplate)
	ids := slices.Concat(m.Encode("u:Hi"), []int{turnEnd}, m.Encode("a:"))
	got, err := m.PromptOf(ids)
	if err != nil || got.Text != "u:Hi<|im_end|>a:" || !slices.Equal(got.Marks, []int{4}) || got.IDs != nil {
		t.Errorf("got %+v, %v; want the text with its token at 4", got, err)
	}
	if plain, named := m.Decode(ids), m.DecodeNamed(ids); plain != "u:Hia:" || named != got.Text {
		t.Errorf("decoded %q, by name %q; want %q, %q", plain, named, "u:Hia:", got.Text)
	}
}

// TestReplayOfTokenIDs: a run whose prompt is a list of tokens can be replayed from its log.
func TestReplayOfTokenIDs(t *testing.T) {
	t.Parallel()
	m := testmodel.Chat(t, chatFolder, testmodel.ChatTemplate)
	prompt, err := m.PromptOf(letters(t, m, "the"))
	if err != nil || prompt.IDs == nil {
		t.Fatalf("got %+v, %v; want tokens that the text is not encoded as", prompt, err)
	}
	l, err := infer.NewChat(m, prompt, infer.DefaultSettings())
	if err != nil {
		t.Fatal(err)
	}
	for range 2 * len(infer.Kinds) {
		if _, err := l.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	again, err := infer.Replay(t.Context(), m, l.Log())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(again.Prompt(), prompt.IDs) || again.Steps()[1].Chosen != l.Steps()[1].Chosen {
		t.Errorf("replayed %v and %d; want %v and %d", again.Prompt(), again.Steps()[1].Chosen, prompt.IDs,
			l.Steps()[1].Chosen)
	}
}

// TestNamedChances: named tokens are listed once each, after the most probable tokens, with the
// probabilities that the model assigns to them.
func TestNamedChances(t *testing.T) {
	t.Parallel()
	m := testmodel.Target(t)
	paris, _ := m.TokenOf(" Paris")
	the, _ := m.TokenOf(" the")
	text := chat.Text{Text: "The capital of France is Paris"}
	list, err := m.ScorePrompt(t.Context(), text, 1, paris, the)
	if err != nil {
		t.Fatal(err)
	}
	last := list[len(list)-1]
	if len(last.Top) != 2 || last.Top[0].Token.ID != paris || last.Top[1].Token.ID != the ||
		last.Top[0].LogProb != last.LogProb || last.Top[1].LogProb >= last.LogProb {
		t.Errorf("after “is”: got %+v, want %d, likelier than %d, each once", last, paris, the)
	}
	all, err := m.ScorePrompt(t.Context(), text, m.Config().Vocab)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all[len(all)-1].Top {
		if c.Token.ID == the && c.LogProb != last.Top[1].LogProb {
			t.Errorf("%q has ln p %v when named, want %v as in all", c.Token.Text, last.Top[1].LogProb, c.LogProb)
		}
	}
}
