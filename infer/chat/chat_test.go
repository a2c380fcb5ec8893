package chat

import "testing"

func TestPlainChat(t *testing.T) {
	for _, row := range []struct {
		messages []Message
		want     string
	}{
		{nil, "Assistant:"},
		{[]Message{{User, "Hi"}}, "User: Hi\nAssistant:"},
		{
			[]Message{{System, "A fox speaks."}, {User, "Hi"}, {Assistant, " Yes."}, {User, ""}},
			"A fox speaks.\nUser: Hi\nAssistant: Yes.\nUser:\nAssistant:",
		},
		{[]Message{{User, "<|end|>"}}, "User: <|end|>\nAssistant:"}, // typed text remains text
	} {
		if got := Plain(row.messages); got != row.want {
			t.Errorf("%v: %q, want %q", row.messages, got, row.want)
		}
	}
}
