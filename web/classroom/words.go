package classroom

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/stage"
)

// fieldsJSON returns the additional fields of a button, or "" if there are none.
func fieldsJSON(fields map[string]string) string {
	if len(fields) == 0 {
		return ""
	}
	b, err := json.Marshal(fields)
	if err != nil {
		panic(err) // a map of strings can always be encoded
	}
	return string(b)
}

// atMost returns the attributes of a field that accepts up to n characters. For longer text,
// the browser shows a message next to the field; with maxlength, it would silently truncate
// typed or pasted text.
func atMost(w stage.Words, n int) templ.Attributes {
	return templ.Attributes{"pattern": fmt.Sprintf(".{0,%d}", n), "title": w.T("classroom.at_most", "n", n)}
}

func memberJSON(id int) string { return fieldsJSON(map[string]string{"member": strconv.Itoa(id)}) }

// lasting formats a duration in days or, if it is not a whole number of days, in hours.
func lasting(w stage.Words, d time.Duration) string {
	const day = 24 * time.Hour
	if d%day == 0 {
		return w.Counted(int(d/day), "day")
	}
	return w.Counted(int(d.Round(time.Hour)/time.Hour), "hour")
}

// keysOf returns the names that browsers use for the keys that press a button.
func keysOf(b button) string {
	keys := b.Keys
	if b.Key != "" {
		keys = append(keys, b.Key)
	}
	return strings.Join(keys, " ")
}

// memberName returns the name of a member if it may be shown, and otherwise their number.
func memberName(w stage.Words, v *class.View, m class.Attendee) string {
	if m.Name == "" || v.NamesHidden {
		return w.T("classroom.members.member", "n", strconv.Itoa(m.ID))
	}
	return m.Name
}

// questionLine describes a question on one line, for a list to choose from.
func questionLine(q *lessons.Question) string {
	const most = 110
	words := []rune(q.PromptText)
	if len(words) > most {
		return string(words[:most-1]) + "…"
	}
	return string(words)
}
