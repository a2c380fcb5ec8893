package api

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/tokenbytoken/viz/infer/chat"
	"github.com/tokenbytoken/viz/infer/terms"
)

// readMessages converts a conversation to the text that the model continues.
func (s *Server) readMessages(ctx context.Context, q *request, f *terms.Fields) error {
	var list []json.RawMessage
	if json.Unmarshal(f.Rest()["messages"], &list) != nil || len(list) == 0 || len(list) > maxMessages {
		return wrong("messages", "invalid_value", "messages must be a list of 1 to %d messages.", maxMessages)
	}
	delete(f.Rest(), "messages")
	var messages []chat.Message
	for i, raw := range list {
		m, idle, err := readMessage("messages["+strconv.Itoa(i)+"]", raw)
		if err != nil {
			return err
		}
		messages = append(messages, m)
		q.idle = append(q.idle, idle...)
	}
	o, err := readOptions(f, messages[len(messages)-1].Role)
	if err != nil {
		return err
	}
	if len(o.Values) > 0 && !s.Model.HasTemplate() {
		q.idle = append(q.idle, templateValues)
	}
	text, err := s.Model.Chat(ctx, messages, o, time.Now())
	if err != nil {
		return err
	}
	q.prompts, q.plain = []prompt{{Text: text}}, !s.Model.HasTemplate()
	return nil
}

// readMessage reads one message; at is its location in the request. idle lists the message's fields
// that have no effect.
func readMessage(at string, raw json.RawMessage) (m chat.Message, idle []string, err error) {
	f, refused := terms.JSONFields(raw)
	if refused != nil {
		return m, nil, wrong(at, "invalid_value", "%s must be an object with a role and a content.", at)
	}
	maps.DeleteFunc(f.Rest(), func(_ string, raw json.RawMessage) bool { return string(raw) == "null" })
	switch role := f.Text("role"); role {
	case chat.System, chat.User, chat.Assistant:
		m.Role = role
	case "developer": // the newer name for system
		m.Role = chat.System
	default:
		return m, nil, wrong(at+".role", "invalid_value",
			"%s.role is %s; it must be system, developer, user or assistant.", at, terms.Quoted(role))
	}
	const within = "messages[]."
	if m.Content, idle, err = readContent(at+".content", f); err != nil {
		return m, nil, err
	}
	idle = append(idle, setAside(within, f.Rest())...)
	for name := range f.Rest() {
		why := cmp.Or(others[within+name].why, "a message can only have a role and a text content")
		return m, nil, unsupported(at+"."+name, why)
	}
	return m, idle, nil
}

// readContent reads the content of a message, which is a string or a list of text parts.
func readContent(at string, f *terms.Fields) (text string, idle []string, err error) {
	raw := f.Rest()["content"]
	delete(f.Rest(), "content")
	if json.Unmarshal(raw, &text) == nil {
		return text, nil, nil
	}
	var parts []json.RawMessage
	if json.Unmarshal(raw, &parts) != nil || len(parts) == 0 {
		return "", nil, wrong(at, "invalid_value", "%s must be a string or a list of parts.", at)
	}
	for i, raw := range parts {
		at := at + "[" + strconv.Itoa(i) + "]"
		part, refused := terms.JSONFields(raw)
		if refused != nil {
			return "", nil, wrong(at, "invalid_value", "%s must be an object with a type and a text.", at)
		}
		if kind := part.Text("type"); kind != "text" || !part.Has("text") {
			return "", nil, unsupported(at, "the model only reads text, but this part has the type "+terms.Quoted(kind))
		}
		text += part.Text("text")
		if err := part.Err(); err != nil {
			return "", nil, wrong(at+"."+err.Field, "invalid_value", "%s", err.Message)
		}
		idle = append(idle, setAside("messages[].content[].", part.Rest())...)
		for name := range part.Rest() {
			return "", nil, unsupported(at+"."+name, "a part can only have a type and a text")
		}
	}
	return text, idle, nil
}

// Limits for the variables that a request passes to a chat template.
const (
	templateValues   = "chat_template_kwargs" // the name of the field
	maxTemplateVars  = 16
	maxTemplateName  = 40
	maxTemplateBytes = 1000 // per string
)

// readOptions reads the options for formatting a chat. last is the role of the last message. If the
// last message is from the model, it is continued, unless the request asks for another turn.
func readOptions(f *terms.Fields, last string) (o chat.Options, err error) {
	const begin, onward = "add_generation_prompt", "continue_final_message"
	hasBegin, hasOnward := f.Has(begin), f.Has(onward)
	begins, continues := hasBegin && f.Truth(begin), hasOnward && f.Truth(onward)
	if err := f.Err(); err != nil {
		return o, err
	}
	switch o.Continue = last == chat.Assistant && !begins; {
	case begins && continues:
		return o, wrong(onward, "invalid_value",
			"%s and %s are both true, but the model can either continue a message or begin a turn.", onward, begin)
	case continues && last != chat.Assistant:
		return o, wrong(onward, "invalid_value", "%s requires the last message to be from the assistant.",
			onward)
	case hasOnward:
		o.Continue = continues
	}
	if hasBegin && !begins && !o.Continue {
		return o, unsupported(begin, "the model must begin a turn, unless it continues a message")
	}
	o.Values, err = readTemplateValues(f)
	return o, err
}

// readTemplateValues reads the variables for a chat template. Their number is limited, and each is
// a scalar.
func readTemplateValues(f *terms.Fields) (map[string]any, error) {
	if !f.Has(templateValues) {
		return nil, nil
	}
	of, refused := terms.JSONFields(f.Rest()[templateValues])
	delete(f.Rest(), templateValues)
	if refused != nil || len(of.Rest()) > maxTemplateVars {
		return nil, wrong(templateValues, "invalid_value", "%s must be an object with at most %d variables.",
			templateValues, maxTemplateVars)
	}
	values := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(of.Rest())) {
		at := terms.Shortened(templateValues+"."+name, 80)
		v, ok := scalar(of.Rest()[name])
		switch {
		case len(name) > maxTemplateName || !ok:
			return nil, wrong(at, "invalid_value", "%s must be a string of at most %d bytes, a number, true, false or "+
				"null, with a name of at most %d bytes.", at, maxTemplateBytes, maxTemplateName)
		case chat.Own(name):
			return nil, unsupported(at, "this server sets that variable itself")
		}
		values[name] = v
	}
	return values, nil
}

// scalar converts a JSON value for use in a template if it is a scalar.
func scalar(raw json.RawMessage) (any, bool) {
	var v any
	if n, err := strconv.Atoi(string(raw)); err == nil {
		return n, true
	}
	if json.Unmarshal(raw, &v) != nil {
		return nil, false // the number is out of range
	}
	switch v := v.(type) {
	case nil, bool, float64:
		return v, true
	case string:
		return v, len(v) <= maxTemplateBytes
	}
	return nil, false
}
