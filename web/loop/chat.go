package loop

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/chat"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/stage"
)

// ChatForm is the form for typing a conversation, an alternative to the plain prompt.
type ChatForm struct {
	On       bool // the form is shown instead of the prompt
	Messages []chat.Message
	Plain    bool // the model has no chat template
	Offered  []ChatOffer
}

// ChatOffer is a conversation offered as a starting point.
type ChatOffer struct {
	Text string // the person's message
	JSON string // the messages
}

// newChatForm returns the form for a state. It contains the conversation that the state's text
// comes from or, if there is none, an empty conversation.
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

// roles lists the message roles in the order in which pages show them.
var roles = []string{chat.User, chat.Assistant, chat.System}

// messageLabel returns the label of a part of the n-th message. If n is 0, it returns the label for
// the message template.
func messageLabel(w stage.Words, part string, n int) string {
	if n == 0 {
		return w.T("loop.chat." + part)
	}
	return w.T("loop.chat."+part+".n", "n", n)
}

// yourTurn returns the conversation with an empty message added for the person's turn, as JSON. It
// returns "" if there is no room for another message or if the text is not a conversation.
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
		panic(fmt.Sprintf("loop: messages: %v", err)) // cannot happen: messages are text
	}
	return string(b)
}

// endedTurn reports whether the model itself has ended its turn.
func endedTurn(s *session.State) bool {
	return s.Chat != nil && (s.Stopped == infer.StopEOS || s.Stopped == infer.StopString)
}
