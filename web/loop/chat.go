package loop

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/chat"
	"github.com/tokenbytoken/viz/web/session"
)

// ChatForm is a conversation as it is typed, beside the plain prompt.
type ChatForm struct {
	On       bool // it is shown, and not the prompt
	Messages []chat.Message
	Plain    bool // the model has no chat template
	Offered  []ChatOffer
}

// ChatOffer is a conversation that can be begun with.
type ChatOffer struct {
	Text string // what the person says
	JSON string // the messages
}

// newChatForm is the form of a state: with the conversation of its text, or an empty one.
func newChatForm(s *session.State) ChatForm {
	v := ChatForm{Plain: !s.Model.HasTemplate(), Messages: []chat.Message{{Role: chat.User}}}
	if s.Chat != nil {
		v.On, v.Messages = true, s.Chat.Messages
	}
	for _, o := range session.Openings {
		if o.Kind != session.Question {
			continue
		}
		said, _, _ := strings.Cut(strings.TrimPrefix(o.Text, "User: "), "\n")
		v.Offered = append(v.Offered, ChatOffer{said, messagesJSON([]chat.Message{{Role: chat.User, Content: said}})})
	}
	return v
}

// roleNames are the roles as people call them, with the word that programs use.
var roleNames = []struct{ Role, Name string }{
	{chat.User, "You (user)"}, {chat.Assistant, "The model (assistant)"}, {chat.System, "Instructions (system)"},
}

// yourTurn is the conversation with a place for what the person says next, as JSON, or ""
// where nothing more fits or the text is no conversation.
func yourTurn(s *session.State) string {
	said := s.Messages()
	if said == nil || s.Stopped == infer.StopContext || len(said) >= session.MaxMessages {
		return ""
	}
	return messagesJSON(append(said, chat.Message{Role: chat.User}))
}

func messagesJSON(messages []chat.Message) string {
	b, err := json.Marshal(messages)
	if err != nil {
		panic(fmt.Sprintf("loop: messages: %v", err)) // they are text
	}
	return string(b)
}

// endedTurn reports whether the model has ended its turn by itself.
func endedTurn(s *session.State) bool {
	return s.Chat != nil && (s.Stopped == infer.StopEOS || s.Stopped == infer.StopString)
}
