package checkpoint

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/tokenbytoken/viz/infer/tokenizer"
)

// repeated returns the results of format for 0 to n-1, separated by commas.
func repeated(n int, format string) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// TestOversizedDescriptionsAreRefusedEarly: rejecting a description with too many entries takes
// little more memory than the description itself, since nothing is parsed needlessly or twice.
func TestOversizedDescriptionsAreRefusedEarly(t *testing.T) {
	added := `{"added_tokens":[%s],"pre_tokenizer":{"type":"ByteLevel"},"decoder":{"type":"ByteLevel"},` +
		`"model":{"type":"BPE","vocab":{%s},"merges":[]}%s}`
	for _, test := range []struct{ name, file, text, want string }{
		{
			"added tokens", tokenizerFile,
			fmt.Sprintf(added, repeated(1<<16+1, `{"id":%d,"content":"<t>","special":true}`), `"a":1`, ""),
			"tokenizer.json: tokenizer: added_tokens has more than 65536 entries",
		},
		{
			"added tokens of another kind of tokenizer", tokenizerFile,
			`{"added_tokens":[` + repeated(1<<16+1, `{"id":%d,"content":"<t>"}`) + `],"model":{"type":"WordPiece"}}`,
			"tokenizer.json: tokenizer: pre_tokenizer is missing",
		},
		{
			"tokens", tokenizerFile, fmt.Sprintf(added, "", repeated(1<<19+1, `"%d":1`), ""),
			"tokenizer.json: tokenizer: model.vocab has more than 524288 tokens",
		},
		{
			"members that nobody knows", tokenizerFile,
			fmt.Sprintf(added, "", `"a":1`, `,"x":"`+strings.Repeat("x", 9<<20)+`"`),
			"tokenizer.json: tokenizer: the data other than the vocabulary, merges and added tokens exceeds " +
				"8388608 bytes",
		},
		{
			"bytes", tokenizerFile, strings.Repeat(" ", tokenizer.MaxBytes+1),
			"tokenizer.json has 50331649 bytes, which exceeds the limit of 50331648",
		},
		{
			"keys", tokenizerConfigFile, "{" + repeated(maxKeys+1, `"%d":{"a":1}`) + "}",
			"tokenizer_config.json: has more than 4096 keys",
		},
		{
			"keys with quotes in them", tokenizerConfigFile, `{"a\"":1,` + repeated(maxKeys, `"%d":[{"a":1}]`),
			"tokenizer_config.json: has more than 4096 keys",
		},
	} {
		folder := tinyFolder(t)
		folder[test.file] = &fstest.MapFile{Data: []byte(test.text)}
		size := uint64(len(test.text))
		if size > tokenizer.MaxBytes {
			size = 0 // the file is not read
		}
		var err error
		got := allocated(func() { _, err = Open(folder, "m") })
		if err == nil || !strings.Contains(strings.Join(Reasons(err), "\n"), test.want) {
			t.Errorf("%s: got %v, want an error containing %q", test.name, err, test.want)
		}
		if most := size + 4<<20; got > most {
			t.Errorf("%s: %d bytes allocated for a file of %d, want at most %d", test.name, got, len(test.text), most)
		}
	}
}

// TestRefusedTokenizerListsSpecialTokens: the special tokens of an unsupported tokenizer are
// described anyway, and the maximum number of keys is read.
func TestRefusedTokenizerListsSpecialTokens(t *testing.T) {
	folder := tinyFolder(t)
	folder[tokenizerFile] = &fstest.MapFile{Data: []byte(`{"model":{"type":"WordPiece"},"added_tokens":[` +
		`{"id":7,"content":"[SEP]","special":true} , {"id":3,"content":"[CLS]","special":true},` +
		`{"id":4,"content":"x"}]}`)}
	folder[tokenizerConfigFile] = &fstest.MapFile{Data: []byte("{" + repeated(maxKeys, `"%d":":"`) + "}")}
	d, err := describeFolder(folder, "m")
	if err == nil || len(Reasons(err)) != 1 || !strings.Contains(err.Error(), "pre_tokenizer is missing") {
		t.Errorf("got reasons %q, want only one, about the tokenizer", Reasons(err))
	}
	if got, want := fmt.Sprint(d.Vocabulary.Special), "[{3 [CLS]} {7 [SEP]}]"; got != want {
		t.Errorf("got special tokens %s, want %s", got, want)
	}
}

// TestChatTemplateOfSeveral: if a model has several chat templates, the one named default is used.
// A single template is used whatever its name.
func TestChatTemplateOfSeveral(t *testing.T) {
	for text, want := range map[string]string{
		`[{"name":"tool","template":"T"},{"name":"default","template":"D"}]`: "D",
		`[{"name":"tool","template":"T"}]`:                                   "T",
		`[{"name":"a","template":"A"},{"name":"b","template":"B"}]`:          "",
		`[{"name":1}]`: "",
		`[]`:           "",
		`"plain"`:      "plain",
	} {
		config := []byte(`{"chat_template":` + text + `}`)
		if got, _ := folderTemplate(fstest.MapFS{}, config); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
		alone := fstest.MapFS{templateFileJSON: &fstest.MapFile{Data: bytes.Clone(config)}}
		if got, _ := folderTemplate(alone, nil); got != want {
			t.Errorf("%s in %s: got %q, want %q", text, templateFileJSON, got, want)
		}
	}
}
