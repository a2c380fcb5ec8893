package api

import (
	"context"
	"encoding/json"
	"maps"
	"strconv"
	"time"

	"github.com/tokenbytoken/viz/infer/chat"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
)

// readMessages writes a conversation as the text that the model continues.
func (s *Server) readMessages(ctx context.Context, q *request, f *session.Fields) error {
	var list []json.RawMessage
	if json.Unmarshal(f.Rest()["messages"], &list) != nil || len(list) == 0 || len(list) > maxMessages {
		return wrong("messages", "invalid_value", "messages must be a list of 1 to %d messages.", maxMessages)
	}
	delete(f.Rest(), "messages")
	var messages []chat.Message
	for i, raw := range list {
		m, err := readMessage("messages["+strconv.Itoa(i)+"]", raw)
		if err != nil {
			return err
		}
		messages = append(messages, m)
	}
	text, err := s.Model.Chat(ctx, messages, chat.Options{}, time.Now())
	if err != nil {
		return err
	}
	q.prompts, q.plain = []chat.Text{text}, !s.Model.HasTemplate()
	return nil
}

// readMessage reads one message; at is its place.
func readMessage(at string, raw json.RawMessage) (m chat.Message, err error) {
	f, refused := session.JSONFields(raw)
	if refused != nil {
		return m, wrong(at, "invalid_value", "%s must be an object with a role and a content.", at)
	}
	maps.DeleteFunc(f.Rest(), func(_ string, raw json.RawMessage) bool { return string(raw) == "null" })
	switch role := f.Text("role"); role {
	case chat.System, chat.User, chat.Assistant:
		m.Role = role
	case "developer": // the newer name
		m.Role = chat.System
	default:
		return m, wrong(at+".role", "invalid_value",
			"%s.role is %s; it must be system, developer, user or assistant.", at, terms.Quoted(role))
	}
	if m.Content, err = readContent(at+".content", f); err != nil {
		return m, err
	}
	for name := range f.Rest() {
		return m, unsupported(at+"."+name, "a message has a role and a content of text")
	}
	return m, nil
}

// readContent reads a text, or a list of parts that are texts.
func readContent(at string, f *session.Fields) (string, error) {
	raw := f.Rest()["content"]
	delete(f.Rest(), "content")
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text, nil
	}
	var parts []struct {
		Type string
		Text *string
	}
	if json.Unmarshal(raw, &parts) != nil || len(parts) == 0 {
		return "", wrong(at, "invalid_value", "%s must be a text.", at)
	}
	for i, part := range parts {
		if part.Type != "text" || part.Text == nil {
			return "", unsupported(at+"["+strconv.Itoa(i)+"]", "the model reads text, and this part is of the type "+
				terms.Quoted(part.Type))
		}
		text += *part.Text
	}
	return text, nil
}
