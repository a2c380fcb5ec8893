package chat

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/infer/tokenizer"
)

// vocabulary specifies the tokenizer that encodes a template's texts.
type vocabulary struct {
	pack string
	// added holds the template's special tokens if the tokenizer belongs to another model and lacks
	// them.
	added []string
}

// vocabularies maps the templates in testdata/chat to their vocabularies. Qwen's templates use the
// models' own tokenizers. For the others, special tokens are added to a Qwen tokenizer, as in the
// models that DeepSeek derived from Qwen's, since this program does not support the splitting rules
// of DeepSeek V3's and Mistral Nemo's tokenizers.
var vocabularies = map[string]vocabulary{
	"qwen2_5": {"tokenizer-qwen2_5", nil},
	"qwen3":   {"tokenizer-qwen3", nil},
	// Qwen's ordinary tokens can spell <s> and </s>, so the start and end tokens have other names
	// here.
	"mistral_nemo": {"tokenizer-qwen3", []string{"<|bos|>", "<|eos|>", "[INST]", "[/INST]"}},
	"deepseek_v3_1": {"tokenizer-qwen2_5", []string{
		"<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>", "<｜User｜>", "<｜Assistant｜>", "<think>", "</think>",
	}},
	"glm_4_6": {"tokenizer-qwen3", []string{
		"[gMASK]", "<sop>", "<|system|>", "<|user|>", "<|assistant|>", "<|observation|>",
	}},
}

// addedToken is an added token in a tokenizer.json.
type addedToken struct {
	ID      int    `json:"id"`
	Content string `json:"content"`
	Special bool   `json:"special"`
}

// asksIDs is a request that asks the script for the ids of one template's chats.
type asksIDs struct {
	File  string       `json:"file"`
	Added []addedToken `json:"added"`
	Texts []markedText `json:"texts"`
}

type markedText struct {
	Text  string `json:"text"`
	Marks []int  `json:"marks"`
	ids   []int
	typed bool // a message contains the name of a special token
}

// TestIDsFromNPM: a hundred chats, formatted with the templates of published models, get the same
// ids as from Hugging Face's tokenizers. If a message contains the name of a special token, the test
// gets the expected ids by encoding each part of the text between the template's own special tokens
// separately.
func TestIDsFromNPM(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	p, installed := readPublished(t), fixture.Npm(t, filepath.Join(folder, "npm"))
	asks := map[string]asksIDs{}
	for name, source := range p.Sources {
		v := vocabularies[name]
		file := filepath.Join(installed, "node_modules", "@lenml", v.pack, "models", "tokenizer.json")
		tok, added := withAdded(t, file, v.added)
		text, err := os.ReadFile(filepath.Join(folder, name+".jinja"))
		if err != nil {
			t.Fatal(err)
		}
		if name == "mistral_nemo" {
			source.Tokens = map[string]string{"bos_token": v.added[0], "eos_token": v.added[1]}
		}
		asks[name] = asksIDs{file, added, chatsOf(t, string(text), source.Tokens, tok, p.Chats)}
	}
	body, err := json.Marshal(asks)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(installed, "asks.json")
	if err := os.WriteFile(path, body, 0o600); err != nil {
		t.Fatal(err)
	}
	var answers map[string][]struct{ Whole, Parts []int }
	said := fixture.Output(t, installed, fixture.Node(t, installed), "ids.mjs", path)
	if err := json.Unmarshal([]byte(said), &answers); err != nil {
		t.Fatal(err)
	}
	for name, a := range asks {
		typed := 0
		for i, text := range a.Texts {
			want := answers[name][i]
			if !slices.Equal(text.ids, want.Parts) {
				t.Errorf("%s, chat %d %q: %v, want %v", name, i+1, text.Text, text.ids, want.Parts)
			}
			if text.typed {
				typed++
			}
			if text.typed == slices.Equal(want.Whole, want.Parts) {
				t.Errorf(
					"%s, chat %d %q: typed names: got %v, want ids other than %v; whole %v, in parts %v", name, i+1,
					text.Text, text.typed, slices.Equal(want.Whole, want.Parts), want.Whole, want.Parts,
				)
			}
		}
		if typed == 0 || len(a.Texts)-typed < 40 {
			t.Errorf(
				"%s: of %d chats, %d have a typed name; want typed not 0, len(a.Texts)-typed at least 40", name,
				len(a.Texts), typed,
			)
		}
		t.Logf("%s: %d chats, %d of them with a typed name", name, len(a.Texts), typed)
	}
}

// withAdded parses a tokenizer.json with additional special tokens.
func withAdded(t *testing.T, file string, names []string) (*tokenizer.Tokenizer, []addedToken) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]json.RawMessage
	var list []json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(all["added_tokens"], &list); err != nil {
		t.Fatal(err)
	}
	var have []addedToken
	if err := json.Unmarshal(all["added_tokens"], &have); err != nil {
		t.Fatal(err)
	}
	added := []addedToken{}
	for i, name := range names {
		a := addedToken{have[len(have)-1].ID + 1 + i, name, true}
		text, _ := json.Marshal(a)
		list, added = append(list, text), append(added, a)
	}
	all["added_tokens"], _ = json.Marshal(list)
	data, _ = json.Marshal(all)
	tok, err := tokenizer.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	return tok, added
}

// chatsOf renders the chats that a template does not reject.
func chatsOf(
	t *testing.T, source string, tokens map[string]string, tok *tokenizer.Tokenizer, chats [][]Message,
) (texts []markedText) {
	t.Helper()
	var special []string
	for id := range tok.Size() {
		if name, ok := tok.Special(id); ok {
			special = append(special, name)
		}
	}
	template, err := Compile(source, tokens, special)
	if err != nil {
		t.Fatal(err)
	}
	for _, messages := range chats {
		written, err := template.Render(t.Context(), messages, Options{}, today)
		if err != nil {
			continue // the roles do not alternate
		}
		text := markedText{Text: written.Text, Marks: written.Marks}
		if text.Marks == nil {
			t.Fatalf("%q has no special token", written.Text)
		}
		if text.ids, err = tok.EncodeMarked(written.Text, written.Marks); err != nil {
			t.Fatal(err)
		}
		found := 0
		for _, name := range special {
			found += strings.Count(written.Text, name)
		}
		text.typed = found > len(written.Marks)
		texts = append(texts, text)
	}
	return texts
}
