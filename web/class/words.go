package class

import (
	"html"
	"strings"

	"github.com/tokenbytoken/viz/infer/terms"
)

// A room's log contains the program's own texts, such as the question of a vote about a token, in
// English. TextIn and HTMLIn translate them for a page.

// logged holds the keys of the program's own texts in a room's log, by their English text.
var logged = func() map[string]string {
	keys := map[string]string{}
	for _, key := range []string{
		"class.ask.next", "class.ask.draw", "class.ask.end", "class.ask.others", "class.ask.recalled.yes",
		"class.ask.recalled.part", "class.ask.recalled.no", "class.ask.untitled",
	} {
		keys[terms.English.T(key)] = key
	}
	return keys
}()

var (
	// Untitled is the title of a class whose instructor has not chosen one.
	Untitled = terms.English.T("class.ask.untitled")
	// Others is the text of the option for everything that is not listed.
	Others = terms.English.T("class.ask.others")
)

// TextIn translates a text of a room into a language if the text is one of the program's own. Other
// texts, such as tokens, quiz questions and user input, are returned unchanged.
func TextIn(l *terms.Language, text string) string {
	if key, ok := logged[text]; ok {
		return l.T(key)
	}
	return text
}

// HTMLIn is like [TextIn], for HTML.
func HTMLIn(l *terms.Language, text string) string {
	if question, ok := strings.CutSuffix(text, HowRecalled(terms.English)); ok {
		return question + HowRecalled(l)
	}
	if key, ok := logged[text]; ok {
		return html.EscapeString(l.T(key))
	}
	return text
}

// HowRecalled is shown below a free-text question, since a vote cannot collect such answers.
func HowRecalled(l *terms.Language) string {
	return `<p class="poll__how">` + html.EscapeString(l.T("class.ask.recalled")) + `</p>`
}
