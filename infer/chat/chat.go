// Package chat formats a conversation as the text that a model continues.
//
// A model that was trained on chats marks turns with special tokens. A base model has no such
// tokens: its conversation is formatted as plain lines that begin with "User:" or "Assistant:", and
// a stop string ends the model's turn before it generates the user's next line. In such a
// conversation, these marks cannot be distinguished from the same text typed by a user, which is a
// limitation of base models.
package chat

import "strings"

// The roles of a message.
const (
	System    = "system"
	User      = "user"
	Assistant = "assistant"
)

// Roles lists all roles.
var Roles = []string{System, User, Assistant}

// Message is one turn of a conversation.
type Message struct {
	Role    string `json:"role"` // [System], [User] or [Assistant]
	Content string `json:"content"`
}

// PlainStop is the stop string that ends the model's turn in a plain conversation.
const PlainStop = "\nUser:"

// Plain formats a conversation as plain lines and begins the model's turn. A system message has no
// mark.
//
//	User: Who lives here?
//	Assistant: A fox.
//	User: Alone?
//	Assistant:
func Plain(messages []Message) string { return plain(messages, "") }

// PlainOpen is like [Plain], but for a conversation whose last message is the model's. It leaves
// that message open for the model to continue.
func PlainOpen(messages []Message) string {
	n := len(messages) - 1
	return plain(messages[:n], messages[n].Content)
}

func plain(messages []Message, open string) string {
	var b strings.Builder
	for _, m := range messages {
		switch m.Role {
		case System:
			b.WriteString(m.Content)
		case User:
			line(&b, "User:", m.Content)
		default:
			line(&b, "Assistant:", m.Content)
		}
		b.WriteByte('\n')
	}
	line(&b, "Assistant:", open)
	return b.String()
}

// line appends a mark and a message to b. A model's answers begin with a space.
func line(b *strings.Builder, mark, content string) {
	b.WriteString(mark)
	if content != "" && !strings.HasPrefix(content, " ") {
		b.WriteByte(' ')
	}
	b.WriteString(content)
}
