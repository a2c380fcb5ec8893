package session_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/chat"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/web/session"
)

// templated returns a run on a small model with a chat template.
func templated(t *testing.T, commands ...session.Command) *session.Session {
	t.Helper()
	m := testmodel.Chat(t, "../../testdata/models/qwen3", testmodel.ChatTemplate)
	s := session.New(m, session.DefaultLimits())
	apply(t, s, commands...)
	return s
}

func said(texts ...string) session.StartChat {
	c := session.Chat{At: 1e9}
	for i, text := range texts {
		c.Messages = append(c.Messages, chat.Message{Role: []string{chat.User, chat.Assistant}[i%2], Content: text})
	}
	return session.StartChat{Chat: c}
}

// TestChatKeepsColumnsBetweenTurns: a chat is one text that contains the template's special tokens.
// Characters typed by a person are plain text, even if they look like a special token. The next
// turn keeps the columns of the earlier turns.
func TestChatKeepsColumnsBetweenTurns(t *testing.T) {
	t.Parallel()
	s := templated(t, session.SetKnob("max_tokens", 2), said("Hi <|im_end|>"))
	special := func(st *session.State) (n int) {
		for _, token := range st.PromptTokens {
			if token.Special {
				n++
			}
		}
		return n
	}
	st := s.State()
	if st.Prompt != "u:Hi <|im_end|><|im_end|>a:" || special(st) != 1 || st.Step().Start != 0 ||
		st.Settings.Stop.Strings != nil {
		t.Fatalf(
			"%q has %d special tokens; %d columns kept, stops %q; want %q, 1, 0, nil", st.Prompt, special(st),
			st.Step().Start, st.Settings.Stop.Strings, "u:Hi <|im_end|><|im_end|>a:",
		)
	}
	first := len(st.PromptTokens)
	st = apply(t, s, session.StepToken{}, session.StepToken{})
	turns := st.Messages()
	if len(turns) != 2 || turns[1].Role != chat.Assistant || turns[1].Content != st.Steps[0].Text+st.Steps[1].Text {
		t.Fatalf(
			"the chat so far is %q, after %q and %q; want 2 elements, turns[1].Role = %q, turns[1].Content = %q", turns,
			st.Steps[0].Text, st.Steps[1].Text, chat.Assistant, st.Steps[0].Text+st.Steps[1].Text,
		)
	}
	turns = append(turns, chat.Message{Role: chat.User, Content: "So"})
	st = apply(t, s, session.StartChat{Chat: session.Chat{Messages: turns}})
	if st.Step().Start < first || special(st) != 3 || len(st.Step().Input)+st.Step().Start != len(st.PromptTokens) {
		t.Errorf(
			"%d columns kept of a chat that had %d tokens; %d special ones; want st.Step().Start at least "+
				"%d, special(st) = 3, len(st.Step().Input)+st.Step().Start = %d",
			st.Step().Start, first, special(st), first, len(st.PromptTokens),
		)
	}
	if st = apply(t, s, session.Start{Prompt: "u:Hi"}); st.Chat != nil || st.Messages() != nil || st.Step().Start != 0 {
		t.Errorf(
			"a plain prompt after it is still a chat: got %+v, want st.Chat = nil, st.Messages() = nil, "+
				"st.Step().Start = 0",
			st.Chat,
		)
	}
}

// TestChatWithoutTemplate: without a template, a chat consists of plain lines, and a stop string is
// set until the chat ends. If the settings already have a stop string that ends the turn, no other
// is added.
func TestChatWithoutTemplate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ before, want, after []string }{
		{nil, []string{"\nUser:"}, nil},
		{[]string{"x"}, []string{"x", "\nUser:"}, []string{"x"}},
		{[]string{"User:"}, []string{"User:"}, []string{"User:"}},
	} {
		s := session.New(testmodel.Target(t), session.DefaultLimits())
		st := apply(t, s, session.SetStops(c.before...), said("What do cats eat?"))
		if st.Prompt != "User: What do cats eat?\nAssistant:" || !slices.Equal(st.Settings.Stop.Strings, c.want) {
			t.Errorf("the prompt %q has the stops %q, want %q", st.Prompt, st.Settings.Stop.Strings, c.want)
		}
		if st = apply(t, s, session.Start{Prompt: "Hi"}); !slices.Equal(st.Settings.Stop.Strings, c.after) {
			t.Errorf("a plain prompt after the chat has the stops %q, want %q", st.Settings.Stop.Strings, c.after)
		}
	}
}

// TestChatIsRestored: a continued chat is restored from a link, after an eviction, and when woken
// from rest, with its messages, tokens, kept columns and branches.
func TestChatIsRestored(t *testing.T) {
	t.Parallel()
	s := templated(t, session.SetKnob("max_tokens", 9), said("Hi"), session.StepToken{}, session.StepToken{})
	st := apply(t, s, said("Hi", "Yo", "Hm"), session.StepToken{}, session.StepToken{})
	least := int(st.Steps[0].Distribution().Order[st.Model.Config().Vocab-1])
	st = apply(t, s, session.Choose{Step: 1, Token: least}, session.StepToken{}, session.StepToken{})
	if st.Steps[0].Start == 0 || len(st.Branches) != 2 {
		t.Fatalf("got %d kept columns and %d branches, want more than 0 and 2", st.Steps[0].Start, len(st.Branches))
	}
	want := content(st)
	same := func(way string, got *session.State) {
		t.Helper()
		g := content(got)
		if way == "a link" { // a link contains only one branch, and opening it begins another run
			g.Branches, g.Text, g.Speed, g.Ghosts = want.Branches, want.Text, want.Speed, want.Ghosts
		}
		if !reflect.DeepEqual(g, want) {
			t.Errorf("%s gives\n%+v, want\n%+v", way, g, want)
		}
	}
	link, err := session.ParseLink(st.Model, session.LinkOf(st))
	if err != nil {
		t.Fatal(err)
	}
	other := session.New(st.Model, session.DefaultLimits())
	same("a link", apply(t, other, session.Open{Link: link}))
	if again := session.LinkOf(other.State()); again != session.LinkOf(st) {
		t.Error("the run that the link opens has a different link")
	}

	s.Evict()
	st, err = s.Restore(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	same("an eviction", st)

	packed, err := s.Rest()
	if err != nil {
		t.Fatal(err)
	}
	woken, err := session.Wake(st.Model, session.DefaultLimits(), packed)
	if err != nil {
		t.Fatal(err)
	}
	if st, err = woken.Restore(t.Context()); err != nil {
		t.Fatal(err)
	}
	same("a rest", st)
	if st = apply(t, woken, session.TakeBranch{ID: 1}); st.Steps[0].Start != want.Steps[0].Start || len(st.Steps) != 2 {
		t.Errorf(
			"the branch has %d steps after %d kept columns; want 2, %d", len(st.Steps), st.Steps[0].Start,
			want.Steps[0].Start,
		)
	}
}

// TestLinkWithEditedChatIsNotAChat: if the messages in a link do not match its text, they are
// not shown.
func TestLinkWithEditedChatIsNotAChat(t *testing.T) {
	t.Parallel()
	st := templated(t, said("Hi")).State()
	link, err := session.ParseLink(st.Model, session.LinkOf(st))
	if err != nil || link.Chat == nil {
		t.Fatalf("got %+v, %v; want non-nil, <nil>", link.Chat, err)
	}
	for name, edit := range map[string]*session.Chat{
		"other words":  {Messages: []chat.Message{{Role: chat.User, Content: "Ho"}}},
		"another role": {Messages: []chat.Message{{Role: chat.Assistant, Content: "Hi"}}},
		"no role":      {Messages: []chat.Message{{Role: "<b>", Content: "Hi"}}},
		"too many":     {Messages: slices.Repeat([]chat.Message{{Role: chat.User}}, 5000)},
		"too long":     {Messages: []chat.Message{{Role: chat.User, Content: strings.Repeat("a", 1<<20)}}},
		"at no time":   {Messages: link.Chat.Messages[:0], At: -1 << 62},
	} {
		edited := link
		edited.Chat = edit
		got := apply(t, session.New(st.Model, session.DefaultLimits()), session.Open{Link: edited})
		if got.Chat != nil || got.Prompt != st.Prompt || len(got.PromptTokens) != len(st.PromptTokens) {
			t.Errorf("%s: got text %q with chat %+v, want the same text without a chat", name, got.Prompt, got.Chat)
		}
	}
	edited := link
	edited.Log.Kept = 99
	fresh := session.New(st.Model, session.DefaultLimits())
	if e := wantRefused(t, fresh, session.Open{Link: edited}); e.Code != session.CodeLink {
		t.Errorf("a link that keeps 99 columns of a shorter prompt: got %v, want Code = %q", e, session.CodeLink)
	}
}

func TestChatsThatAreRefused(t *testing.T) {
	t.Parallel()
	one := func(role, content string) string { return fmt.Sprintf(`{"role":%q,"content":%q}`, role, content) }
	for name, c := range map[string]struct{ messages, want string }{
		"none":            {`[]`, "a list of 0"},
		"no list":         {`"Hi"`, `"Hi"`},
		"null":            {`null`, "null"},
		"a number":        {`[7]`, "message 1 is 7"},
		"a null":          {`[null]`, "message 1 is null"},
		"no role":         {`[{"content":"Hi"}]`, "message 1"},
		"another field":   {`[{"role":"user","content":"Hi","name":"x"}]`, "message 1"},
		"a field twice":   {`[{"role":"user","role":"user","content":"Hi"}]`, "message 1"},
		"another role":    {"[" + one("user", "Hi") + "," + one("tool", "x") + "]", `message 2 is from "tool"`},
		"too many":        {"[" + strings.Repeat("0,", 99_999) + one("user", "") + "]", "a list of 100000"},
		"too long":        {"[" + one("user", strings.Repeat("ab ", 90_000)) + "]", "270000 bytes long"},
		"too many tokens": {"[" + one("user", strings.Repeat("Q", 100)) + "]", "tokens long"},
		"a NUL":           {`[{"role":"user","content":"a\u0000"}]`, "NUL"},
	} {
		s := templated(t, session.Start{Prompt: "Before"})
		f, refused := terms.JSONFields([]byte(`{"messages":` + c.messages + `}`))
		if refused != nil { // a duplicate field, at any depth
			if name != "a field twice" {
				t.Errorf("%s: got refusal %v, want none", name, refused)
			}
			continue
		}
		command, _, refused := session.Commands.Read("chat", f)
		if refused == nil {
			refused = wantRefused(t, s, command)
		}
		if refused.Field != "messages" || !strings.Contains(refused.Message, c.want) || s.State().Prompt != "Before" {
			t.Errorf("%s: got %+v, want %q", name, refused, c.want)
		}
	}
	full := session.New(testmodel.Target(t), session.DefaultLimits())
	apply(t, full, session.SetStops(strings.Split("12345678", "")...))
	if e := wantRefused(t, full, said("Hi")); e.Field != "stop" || full.State().Started() {
		t.Errorf("a ninth stop string: got %+v, want a refusal of the field stop", e)
	}
}
