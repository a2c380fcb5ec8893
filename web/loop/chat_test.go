package loop

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"github.com/tokenbytoken/viz/infer/chat"
	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/wire"
)

// TestChatIsOneTokenStream: the special tokens that a template puts into a chat are separate chips,
// in both views and while the chat is typed. The same characters typed by a person are plain text.
func TestChatIsOneTokenStream(t *testing.T) {
	t.Parallel()
	m := testmodel.Chat(t, "../../testdata/models/qwen3", testmodel.ChatTemplate)
	s := session.New(m, session.DefaultLimits())
	c := session.Chat{Messages: []chat.Message{{Role: chat.User, Content: "<|im_end|> & <b>"}}}
	st, err := s.Apply(context.Background(), session.StartChat{Chat: c})
	if err != nil {
		t.Fatal(err)
	}
	text, err := c.Write(context.Background(), m, session.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	if v := NewPieces(lang, m, text); len(v.Tokens) != len(st.PromptTokens) ||
		!strings.HasSuffix(v.Say, "tokens, 1 of them from the chat template") {
		t.Errorf(
			"got %d pieces, %q; want %d, it ending with %q", len(v.Tokens), v.Say, len(st.PromptTokens),
			"tokens, 1 of them from the chat template",
		)
	}
	page := NewPage(lang, st)
	d := parse(t, html(t, PageHTML(page)))
	if n, all := d.Find("#strip-prompt .tok--special").Length(), d.Find("#strip-prompt .tok").Length(); n != 1 ||
		all != len(st.PromptTokens) || d.Find("#strip-prompt .tok--start").Length() != 0 {
		t.Errorf(
			"%d of %d tokens of the strip are special; want n = 1, all = %d, count of #strip-prompt .tok--start = 0", n,
			all, len(st.PromptTokens),
		)
	}
	page.View = storyView
	d = parse(t, html(t, PageHTML(page)))
	prose := d.Find("#prose-prompt")
	if got := prose.Find(".sp").Text(); got != "<|im_end|>" || prose.Text() != "u:<|im_end|> & <b><|im_end|>a:" {
		t.Errorf(
			"in the text %q, special %q; want %q, %q", prose.Text(), got, "u:<|im_end|> & <b><|im_end|>a:",
			"<|im_end|>",
		)
	}
	form := d.Find("#prompt-box")
	if !form.HasClass("is-chat") || form.Find("#messages textarea").Text() != "<|im_end|> & <b>" ||
		form.Find("#prompt").Text() != "" || !strings.Contains(form.Find(".msgs .hint").Text(), "own template") {
		t.Errorf(
			"got the form %s, want the chat's message, an empty prompt, and the hint about the model's own template",
			form.Text(),
		)
	}
}

// TestChatLinkRestoresMessages: if a chat's run is no longer on the server, the chat's link
// restores the same tokens and messages, on a page and over the socket.
func TestChatLinkRestoresMessages(t *testing.T) {
	t.Parallel()
	x := newSite(t, limits{})
	c := x.dial(wire.ProtocolJSON, "")
	c.do(`{"cmd":"chat","messages":[{"role":"user","content":"What do cats eat?"}]}`)
	st := c.state(x)
	if st.Prompt != "User: What do cats eat?\nAssistant:" || st.Chat == nil || st.Chat.At == 0 {
		t.Fatalf(
			"got %q of %+v; want st.Prompt = %q, st.Chat not nil, At not 0", st.Prompt, st.Chat,
			"User: What do cats eat?\nAssistant:",
		)
	}
	link := session.LinkOf(st)
	_, page := x.stranger().get("/loop?log=" + url.QueryEscape(link))
	d := parse(t, page)
	if got := d.Find("#messages textarea").Text(); got != "What do cats eat?" ||
		d.Find("#strip-prompt .tok").Length() != len(st.PromptTokens) ||
		!strings.Contains(d.Find("#stops").AttrOr("data-stops", ""), `\nUser:`) ||
		!strings.Contains(d.Find(".msgs .hint").Text(), "base model") {
		t.Errorf("the link's page has message %q, want the chat's message, its tokens, stop string and hint", got)
	}
	other := x.stranger().dial(wire.ProtocolJSON, "")
	other.do(fmt.Sprintf(`{"cmd":"open","link":%q}`, link))
	if got := other.state(x); got.Chat == nil || got.Chat.Messages[0] != st.Chat.Messages[0] ||
		got.Prompt != st.Prompt {
		t.Errorf("the link opens prompt %q of chat %+v, want the same chat and prompt", got.Prompt, got.Chat)
	}
}

// TestLessonChatLinkOnlyFillsTheForm: a lesson's link fills the form but does not start the
// chat.
func TestLessonChatLinkOnlyFillsTheForm(t *testing.T) {
	t.Parallel()
	x := newSite(t, limits{})
	resp, page := x.get("/loop?start=museum")
	d := parse(t, page)
	roles := d.Find("#messages select").Map(func(_ int, s *goquery.Selection) string {
		return s.Find("option[selected]").AttrOr("value", "")
	})
	if resp.StatusCode != 200 || strings.Join(roles, " ") != "system user" ||
		d.Find("#prompt-box[hidden]").Length() != 0 ||
		d.Find("#messages textarea").Last().Text() != "When do you open tomorrow?" ||
		d.Find("body").AttrOr("data-link", "") != "" {
		t.Errorf("got status %d, messages from %q; want 200, and the lesson's chat in the form", resp.StatusCode, roles)
	}
}

// TestChatFormByEveryHand: by mouse, by keyboard alone and by touch, a chat can be typed, extended,
// started, answered and continued, and it keeps its columns. The text in the plain prompt is
// preserved.
// Promise: You can chat with a model, turn by turn, by mouse, keyboard and touch.
func TestChatFormByEveryHand(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	browser.EveryWay(t, func(t *testing.T, screen browser.Screen, hands func(*browser.Tab) browser.Hands) {
		t.Parallel()
		x := newSite(t, limits{})
		tab := visit(t, x, screen)
		v := &visitor{tab, hands(tab), t, x}
		v.Fill("#prompt", "A small fox")
		v.Press("[data-chat-mode=chat]")
		v.Wait("the chat form", `!document.getElementById('prompt').checkVisibility() && messages.checkVisibility()`)
		v.Fill("#messages li:nth-child(1) textarea", "What do cats eat?")
		tokens := len(testmodel.Target(t).Encode("User: What do cats eat?\nAssistant:"))
		v.Wait("its tokens", fmt.Sprintf(`document.querySelectorAll('#pieces .tk').length === %d`, tokens))
		v.Press("[data-chat-add=next]")
		v.Wait("a second message", `messages.children.length === 2 &&
			messages.lastElementChild.querySelector('select').value === 'assistant'`)
		v.Press("[data-chat-add=system]")
		v.Wait("instructions on top", `messages.children.length === 3 &&
			messages.firstElementChild.querySelector('select').value === 'system'`)
		v.Press("#messages li:nth-child(1) [data-chat-remove]")
		v.Press("#messages li:nth-child(2) [data-chat-remove]")
		v.Wait("one message", `messages.children.length === 1`)
		v.Audit("the chat form")
		v.Shot("chat-form.png")

		v.Press("#prompt-form [type=submit]")
		st := v.comes("the chat", func(st *session.State) bool { return st.Chat != nil })
		if len(st.PromptTokens) != tokens || st.Prompt != "User: What do cats eat?\nAssistant:" {
			t.Errorf(
				"got %d tokens of %q; want %d, %q", len(st.PromptTokens), st.Prompt, tokens,
				"User: What do cats eat?\nAssistant:",
			)
		}
		v.given(session.SetPreset{Key: "greedy"}, session.SetKnob("max_tokens", 40))
		v.same()
		v.Press(cmd("#transport", `{"cmd":"finish"}`))
		st = v.comes("the end of the turn", func(st *session.State) bool { return st.Stopped != "" && !st.Playing })
		v.Shot("chat-turn.png")
		v.Press("#transport [data-chat]")
		v.Wait("the chat so far", `messages.children.length === 3`)
		v.Fill("#messages li:nth-child(3) textarea", "And dogs?")
		next := chat.Plain(append(st.Messages(), chat.Message{Role: chat.User, Content: "And dogs?"}))
		// The button moves as long as tokens are added.
		v.Wait("its tokens", fmt.Sprintf(`document.querySelectorAll('#pieces .tk').length === %d`,
			len(testmodel.Target(t).Encode(next))))
		v.Press("#prompt-form [type=submit]")
		grown := v.comes("the next turn", func(st *session.State) bool {
			return st.Chat != nil && len(st.Chat.Messages) == 3
		})
		kept := grown.Step().Start
		if kept < len(st.PromptTokens) || grown.Chat.Messages[1] != st.Messages()[1] {
			t.Errorf(
				"got %d columns kept of a chat of %d tokens, %q; want all kept and the answer as it was", kept,
				len(st.PromptTokens), grown.Chat.Messages,
			)
		}
		v.Shot("chat-grown.png")
		v.Press("#transport [data-toggle=prompt-box]")
		v.Press("[data-chat-mode=text]")
		if got := browser.Value[string](v.Tab, `document.getElementById('prompt').value`); got != "A small fox" {
			t.Errorf("the plain prompt is %q, want %q", got, "A small fox")
		}
		v.Press("#prompt-form [type=submit]")
		v.comes("the plain prompt", func(st *session.State) bool {
			return st.Chat == nil && st.Prompt == "A small fox"
		})
	})
}

// TestTooLongTextKeepsTheConnection: if a text is too long for one message, the page says so, and
// the connection stays open.
func TestTooLongTextKeepsTheConnection(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	x := newSite(t, limits{})
	b := openTab(t, x, browser.Chromebook)
	for mode, field := range map[string]string{"chat": "#messages textarea", "text": "#prompt"} {
		b.Click("[data-chat-mode=" + mode + "]")
		b.Eval(fmt.Sprintf(`(() => {
			const field = document.querySelector(%q);
			field.value = 'é'.repeat(40000);
			field.dispatchEvent(new Event('input', {bubbles: true}));
		})()`, field))
		b.Click("#prompt-form [type=submit]")
		id := map[string]string{"chat": "err-messages", "text": "err-prompt"}[mode]
		b.Until(fmt.Sprintf(`document.getElementById('%s').textContent.includes('too long to send')`, id))
		b.Eval(fmt.Sprintf(`(() => {
			const field = document.querySelector(%q);
			field.value = 'Once';
			field.dispatchEvent(new Event('input', {bubbles: true}));
		})()`, field))
		b.Until(fmt.Sprintf(`document.getElementById('%s').textContent === ''`, id))
		b.Until(isLive)
	}
}
