package loop

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/wire"
)

// TestLongTextsTakeTurns: while a long text is processed, other long texts and queries wait, runs
// continue, and short texts are processed at once. A client that does not read its answers does not
// delay others.
func TestLongTextsTakeTurns(t *testing.T) {
	t.Parallel()
	x := newSite(t, limits{})
	long := strings.Repeat("q7 ", 1000) // more tokens than the model reads
	learner, asking := x.dial(wire.ProtocolHTML, ""), x.dial(wire.ProtocolHTML, "")
	for _, c := range []*client{learner, asking} {
		c.do(`{"cmd":"start","prompt":"Once upon a time"}`)
	}
	_, leave, err := x.texts.Enter(t.Context(), admission.Caller{Learner: "somebody"}, answerTime, nil)
	if err != nil {
		t.Fatal(err)
	}
	typing, starting := x.dial(wire.ProtocolHTML, ""), x.dial(wire.ProtocolHTML, "")
	typed := typing.send(fmt.Sprintf(`{"cmd":"pieces","prompt":%q}`, long))
	started := starting.send(fmt.Sprintf(`{"cmd":"start","prompt":%q}`, long))
	asked := asking.send(`{"cmd":"zoom","block":1}`)
	browser.Eventually(t, func() bool { return x.texts.Len() == 4 })
	learner.do(`{"cmd":"step"}`)
	learner.do(`{"cmd":"pieces","prompt":"The capital"}`)
	leave()
	until := func(c *client, n uint64) received {
		for {
			if m := c.read(); m.Ack == n {
				return m
			}
		}
	}
	if m := until(typing, typed); m.Error != nil || len(m.Panels) != 1 {
		t.Errorf("the answer to the typed text is %+v, want one panel", m)
	}
	if m := until(starting, started); m.Error == nil || !strings.Contains(m.Error.Message, "too long") {
		t.Errorf("the answer to the start is %+v, want a refusal because the text is too long", m)
	}
	if m := until(asking, asked); m.Error != nil || len(m.Panels) == 0 {
		t.Errorf("the answer to the query is %+v, want panels", m)
	}

	deaf := x.dial(wire.ProtocolHTML, "")
	for range 60 {
		deaf.send(fmt.Sprintf(`{"cmd":"pieces","prompt":%q}`, long))
	}
	for range 3 {
		typing.do(fmt.Sprintf(`{"cmd":"pieces","prompt":%q}`, long))
	}
}
