package remote

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/records"
	"github.com/tokenbytoken/viz/web/class/room"
	"github.com/tokenbytoken/viz/web/pseudo"
	"github.com/tokenbytoken/viz/web/store"
)

// TestRefusalsKeepTheirTextBetweenServers sends refusals to another server, which shows them in its
// reader's language.
func TestRefusalsKeepTheirTextBetweenServers(t *testing.T) {
	l := pseudo.Language(t)
	fromLater := &terms.Refusal{Code: class.CodeAsk, Message: "A sentence of a later version."}
	_, ofType := terms.IntInput("step", 1, 9).Parse("x")
	_, ofKnob := terms.MustKnob("top_k").Parse("-1")
	for _, sent := range []*terms.Refusal{
		class.ErrClosed,
		terms.Refuse(class.CodeNick, "class.refused.nick", "n", 50, "most", class.MaxNick),
		terms.Refuse(class.CodeWalk, "class.refused.step", "n", 2, "title", "The draw", "why", class.ErrOpen),
		room.NotForgotten(1).(*terms.Refusal),
		records.NotKept(store.ErrFull).(*terms.Refusal),
		terms.RefusalOf(ofType),
		terms.RefusalOf(ofKnob),
		terms.Refuse(class.CodeWalk, "class.refused.step", "n", 2, "title", "The draw", "why", terms.RefusalOf(ofKnob)),
		fromLater,
	} {
		text, err := json.Marshal(reply{Refusal: sent.Encode()})
		if err != nil {
			t.Fatal(err)
		}
		var got reply
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatal(err)
		}
		refused, ok := terms.AsRefusal(got.read(nil))
		if !ok || refused.Code != sent.Code || refused.Field != sent.Field || refused.Want != sent.Want ||
			refused.Message != sent.Message || refused.In(l) != sent.In(l) {
			t.Errorf("%s arrives as %q, in another language %q; want %q", text, refused, refused.In(l), sent.In(l))
		}
		if sent != fromLater && !strings.HasPrefix(refused.In(l), "⟦") {
			t.Errorf("in another language: %q, want it translated", refused.In(l))
		}
	}
	if got := (*terms.Refusal)(nil).Encode().Decode(); got != nil {
		t.Errorf("no refusal arrives as %v", got)
	}
}
