package classroom

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/shell"
)

// command parses an instructor's command. It uses only the command's own fields, since a form can
// contain others. v is the room's current view.
func command(name string, form url.Values, v *class.View) (class.Command, error) {
	c, ok := class.Commands.Find(name)
	if !ok {
		return nil, noCommand(name)
	}
	fields := map[string]string{}
	for _, in := range c.Inputs {
		if fields[in.Key] = form.Get(in.Key); in.Kind == terms.KindLines {
			fields[in.Key] = terms.Lines(form[in.Key])
		}
	}
	made, _, err := class.Commands.Read(name, terms.TextFields(fields))
	if err != nil {
		return nil, err
	}
	return made(v), nil
}

func noCommand(name string) error {
	e := terms.Refuse(terms.CodeUnknown, "classroom.no_command", "name", strconv.Quote(name))
	e.Field = "cmd"
	return e
}

// withholdField is a hidden field of the forms that can move the run. It is sent whichever button
// is pressed, so any command's message may contain it, but only commands that take a step use it.
const withholdField = "withhold"

// fieldsOf returns the fields that the message of an instructor's command may contain.
func fieldsOf(name string) ([]string, error) {
	c, ok := class.Commands.Find(name)
	if !ok {
		return nil, noCommand(name)
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
	c, err := command(name, r.PostForm, room.View())
	if err == nil {
		_, err = room.Present(r.Context(), who, secret, c)
	}
	if err != nil {
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
