package classroom

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/shell"
)

// formOf returns a command with its fields, and ignores other fields, which a form can also contain.
func formOf(name string, fields url.Values) class.Form {
	f := class.Form{Name: name, Fields: map[string]string{}}
	c, _ := class.Commands.Find(name)
	for _, in := range c.Inputs {
		if f.Fields[in.Key] = fields.Get(in.Key); in.Kind == terms.KindLines {
			f.Fields[in.Key] = terms.Lines(fields[in.Key])
		} else if in.Kind == terms.KindList {
			f.Fields[in.Key] = strings.Join(fields[in.Key], ",")
		}
	}
	return f
}

// withholdField is a hidden field of the forms that can move the run. It is sent whichever button
// is pressed, so any command's message may contain it, but only commands that take a step use it.
const withholdField = "withhold"

// fieldsOf returns the fields that the message of an instructor's command may contain.
func fieldsOf(name string) ([]string, error) {
	c, ok := class.Commands.Find(name)
	if !ok {
		return nil, class.NoCommand(name)
	}
	names := c.Inputs.Keys()
	if !slices.Contains(names, withholdField) {
		names = append(names, withholdField)
	}
	return names, nil
}

// do executes a command from a form.
func (p *Pages) do(w http.ResponseWriter, r *http.Request) {
	if !p.Form(w, r) {
		return
	}
	room, secret, who, ok := p.taught(w, r)
	if !ok {
		return
	}
	name := r.PostForm.Get("cmd")
	if _, err := room.Present(r.Context(), who, secret, formOf(name, r.PostForm)); err != nil {
		p.fail(w, r, err)
		return
	}
	if name == "delete" {
		gone := secretCookie(room.Code(), "")
		gone.MaxAge = -1
		shell.SetCookie(w, r, gone)
	}
	switch {
	case shell.Fragment(r):
		w.WriteHeader(http.StatusNoContent)
	case name == "assign":
		http.Redirect(w, r, roomPath(room.Code())+"/summary#work", http.StatusSeeOther)
	case name == "delete":
		http.Redirect(w, r, "/teach?deleted=1", http.StatusSeeOther)
	default:
		http.Redirect(w, r, "/class/"+room.Code()+"/present", http.StatusSeeOther)
	}
}
