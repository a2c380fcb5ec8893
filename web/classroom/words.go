package classroom

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/stage"
)

// fieldsJSON are the further fields of a button, "" without any.
func fieldsJSON(fields map[string]string) string {
	if len(fields) == 0 {
		return ""
	}
	b, err := json.Marshal(fields)
	if err != nil {
		panic(err) // a map of texts can always be written
	}
	return string(b)
}

// atMost are the attributes of a field that takes n characters. A browser refuses more and says why,
// beside the field; with maxlength it would cut what is typed or pasted, without a word.
func atMost(n int) templ.Attributes {
	return templ.Attributes{"pattern": fmt.Sprintf(".{0,%d}", n), "title": fmt.Sprintf("At most %d characters.", n)}
}

func memberJSON(id int) string { return fieldsJSON(map[string]string{"member": strconv.Itoa(id)}) }

// lasting writes a time as people say it: in days, or in hours where it is not
// whole days.
func lasting(d time.Duration) string {
	const day = 24 * time.Hour
	if d%day == 0 {
		return terms.Counted(int(d/day), "day")
	}
	return terms.Counted(int(d.Round(time.Hour)/time.Hour), "hour")
}

// keysOf are the keys that press a button, as browsers call them.
func keysOf(b button) string {
	keys := b.Keys
	if b.Key != "" {
		keys = append(keys, b.Key)
	}
	return strings.Join(keys, " ")
}

// memberName is what a member is called: their name, where there is one to be
// shown, or a number.
func memberName(v *class.View, m class.Attendee) string {
	if m.Name == "" || v.NamesHidden {
		return fmt.Sprintf("Member %d", m.ID)
	}
	return m.Name
}

// questionLine is a question in a list to choose from.
func questionLine(q *lessons.Question) string {
	const most = 110
	words := []rune(q.PromptText)
	if len(words) > most {
		return string(words[:most-1]) + "…"
	}
	return string(words)
}

// lang is the language of these pages.
var lang = stage.English
