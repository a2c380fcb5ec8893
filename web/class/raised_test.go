package class

import (
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/terms"
)

// TestQuestionsNeedVisibleText: texts of blanks, marks and joiners are refused as empty. Each of them
// would be an empty line on the wall.
func TestQuestionsNeedVisibleText(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"no text":                    "",
		"spaces":                     " \u00a0\u3000\n",
		"control characters":         "\x00\u200b\u202e\ufeff",
		"Hangul fillers":             "\u3164\u115f\u1160\uffa0",
		"Braille blank":              "\u2800 \u2800",
		"Hangul and Braille blanks":  "\u3164\u2800\u115f",
		"musical blank":              "\U0001d159",
		"marks without a letter":     "\u0301\u0336 \u20dd",
		"combining grapheme joiner":  "\u034f",
		"variation selectors":        "\ufe0f\U000e0100",
		"joiners":                    "\u200c \u200d",
		"private and unassigned use": "\ue000\u0378",
	} {
		got, err := CleanRaised(text)
		e, ok := terms.AsRefusal(err)
		if !ok || e.Message != "Type your question first." || e.Code != CodeAsk || e.Field != "text" {
			t.Errorf("%s: got %q, %v; want the refusal of an empty text", name, got, err)
		}
	}
}

// TestQuestionsKeepTheirScript: questions in other scripts, and emoji, stay unchanged.
func TestQuestionsKeepTheirScript(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"Arabic":              "ما هي الرموز؟",
		"vocalized Arabic":    "مُحَمَّدٌ",
		"Arabic with 4 marks": "ا\u0651\u064e\u0670\u0653",
		"Persian":             "می\u200cخواهم",
		"Hebrew":              "מה זה אסימון?",
		"Hebrew with 4 marks": "ש\u05bc\u05c1\u05b4\u0596",
		"Hindi":               "टोकन क्या है? हिन्दी क्\u200dष",
		"Thai":                "โทเค็นคืออะไร น้ำ ที่",
		"Vietnamese":          "Tại sao mỗi từ được chọn?",
		"Vietnamese, NFD":     "Ta\u0323i sao mo\u0302\u0303i tu\u031b\u0300?",
		"Korean":              "왜 ㅋㅋ?",
		"Burmese":             "မြွှောင့်",
		"Chinese":             "為什麼？",
		"an emoji":            "🤔",
		"a joined emoji":      "👩🏽\u200d🏫",
		"a heart":             "❤\ufe0f",
		"a keycap":            "1\ufe0f\u20e3",
		"a flag":              "🇨🇭",
		"one sign":            "?",
		"mathematics":         "∑ x\u0302ᵢ²",
	} {
		if got, err := CleanRaised(text); err != nil || got != text {
			t.Errorf("%s: got %+q, %v; want %+q", name, got, err, text)
		}
	}
}

// TestQuestionsHaveFewMarks: of a pile of marks, each character keeps four. Invisible characters between
// the marks do not change that.
func TestQuestionsHaveFewMarks(t *testing.T) {
	t.Parallel()
	rep := strings.Repeat
	for text, want := range map[string]string{
		"W" + rep("\u0301", 60) + "hy":     "W" + rep("\u0301", 4) + "hy",
		"a" + rep("\u0301\u200d", 6):       "a" + rep("\u0301\u200d", 4) + "\u200d\u200d",
		"a" + rep("\u0301\u115f", 5):       "a" + rep("\u0301\u115f", 4) + "\u115f",
		"a\u0301\u20dd\u0303\u0304\u0336b": "a\u0301\u20dd\u0303\u0304b",
	} {
		if got, err := CleanRaised(text); err != nil || got != want {
			t.Errorf("%+q: got %+q, %v; want %+q", text, got, err, want)
		}
	}
	// Marks count as characters: 29 letters with four marks are 29·5 = 145.
	if _, err := CleanRaised(strings.Repeat("a\u0301\u0302\u0303\u0304", 29)); err == nil {
		t.Error("145 characters were accepted, want a refusal")
	}
}
