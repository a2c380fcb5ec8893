package stage

import (
	"strings"
	"testing"

	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/session/sessiontest"
)

func TestTokenTextMarksSpace(t *testing.T) {
	for _, c := range []struct {
		token infer.Token
		want  string
	}{
		{infer.Token{Text: " fox"}, "[·]fox"},
		{infer.Token{Text: "fox"}, "fox"},
		{infer.Token{Text: "  a b "}, "[··]a b[·]"},
		{infer.Token{Text: "   "}, "[···]"},
		{infer.Token{Text: "\n\n"}, "[↵↵]"},
		{infer.Token{Text: "a\tb\n"}, "a[⇥]b[↵]"},
		{infer.Token{Text: ""}, ""},
		{infer.Token{Text: "é", Bytes: nil}, "é"},
		{infer.Token{Text: "��", Bytes: []byte{0xe2, 0x80}}, "[⟨e2 80⟩]"},
		{infer.Token{Text: " �", Bytes: []byte{' ', 0xf0}}, "[·⟨f0⟩]"},
		{infer.Token{Text: "a�", Bytes: []byte{'a', 0xc3}}, "a[⟨c3⟩]"},
		{infer.Token{Text: "\r"}, "[⟨0d⟩]"},
		{infer.Token{Text: "a\u202eb"}, "a[⟨e2 80 ae⟩]b"}, // this would reverse the text around it
		{infer.Token{Text: "<|end|>", Special: true}, "<|end|>"},
		{infer.Token{Text: "<script>"}, "<script>"},
	} {
		if got := brackets(TokenText(c.token)); got != c.want {
			t.Errorf("TokenText(%q) is %q, want %q", c.token.Text, got, c.want)
		}
	}
}

// TestUnreadTextsAreNamed: if most of a text's words are in characters that have no tokens, the
// text is reported as unread. The bundled model has tokens only for English.
func TestUnreadTextsAreNamed(t *testing.T) {
	t.Parallel()
	m := testmodel.Target(t)
	for text, want := range map[string]bool{
		"Once upon a time": false, "I love 🎉": false, "The café is closed": false, "12 + 5 =": false, "": false,
		"في بيت قديم عاش": true,
		"在老房子里住着一个":       true, "Жил-был старик": true, "🎉🎉": true,
	} {
		var tokens []infer.Token
		for _, id := range m.Encode(text) {
			tokens = append(tokens, m.Token(id))
		}
		if got := English.Unread(tokens); (got != "") != want {
			t.Errorf("%q: got %q, want a sentence: %t", text, got, want)
		}
	}
	s := session.New(m, session.DefaultLimits())
	st := sessiontest.Do(t, s, session.Start{Prompt: "Жил-был старик"})
	for name, says := range map[string]Rich{"Story": English.NewStory(st).Say, "Numbers": English.New(st).Lead} {
		if !strings.HasSuffix(says.String(), "this program knows English.") {
			t.Errorf("%s: got %q, want it to name the model's language", name, says.String())
		}
	}
}

// brackets returns a text as a string, with its marks in brackets.
func brackets(t Text) string {
	s := ""
	for _, p := range t {
		if p.Mark {
			s += "[" + p.S + "]"
		} else {
			s += p.S
		}
	}
	return s
}

func TestRichString(t *testing.T) {
	r := rich("e", sup("2 − 3"), " of ", pick(Marked(" fox")), " is ", bold("0.3679"))
	if got, want := r.String(), "e^(2 − 3) of ·fox is 0.3679"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestTokensStayASequence: a right-to-left token is isolated, so that the tokens and numbers next
// to it keep their positions. Running text has its own direction.
func TestTokensStayASequence(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		of   templ.Component
		want string
	}{
		{TextHTML(Marked(" fox")), `<i class="ws">·</i>fox`},
		{TextHTML(Marked(" שלום")), `<bdi><i class="ws">·</i>שלום</bdi>`},
		{TextHTML(Text{{S: "<|\u202eend|>"}}), `&lt;|end|&gt;`}, // a special token
		{
			RichHTML(rich("then ", gen(Marked("مرحبا")), " 7")),
			`then <span class="tk tk--gen" data-token="مرحبا"><bdi>مرحبا</bdi></span> 7`,
		},
		{RunningHTML("a\u202eb <c>"), `ab &lt;c&gt;`},
		{inProse(RunningHTML("שלום 7")), `<p class="prose" dir="auto">שלום 7</p>`},
	} {
		var got strings.Builder
		if err := c.of.Render(t.Context(), &got); err != nil {
			t.Fatal(err)
		}
		if got.String() != c.want {
			t.Errorf("got %s, want %s", got.String(), c.want)
		}
	}
	if got, want := Marked(" שלום").Inline(), "\u2068·שלום\u2069"; got != want {
		t.Errorf("Inline() = %+q, want %+q", got, want)
	}
}

// TestFlowLabelsHaveThePagesDirection: the program's own words within a running text have the
// direction of the page, which may not be the text's own.
func TestFlowLabelsHaveThePagesDirection(t *testing.T) {
	for want, w := range map[string]Words{"ltr": English, "rtl": pseudoWords(t)} {
		for what, part := range map[string]templ.Component{
			"a label":         w.FlowHTML(FlowPart{Label: "Held", Text: Text{{S: "שלום"}}}),
			"what is missing": w.flowHTML(&Appended{Left: "… 7 characters before.", Prompt: "שלום"}),
		} {
			var b strings.Builder
			if err := part.Render(t.Context(), &b); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(b.String(), `" dir="`+want+`">`) {
				t.Errorf("%s: got %s, want dir=%q", what, &b, want)
			}
		}
	}
}
