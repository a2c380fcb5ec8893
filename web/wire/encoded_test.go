package wire

import (
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer/terms"
)

// TestEncodeSnapshot: a snapshot is encoded with its number, its time and unescaped HTML, and
// the transport's frame is created once.
func TestEncodeSnapshot(t *testing.T) {
	at := time.UnixMicro(1_700_000_000_000_001)
	e, err := Encode(12, at, Message{Panels: []Panel{morph("a", "<b>&</b>")}, Data: 5})
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"seq":12,"at":1700000000000001,"ack":0,"panels":[{"id":"a","op":"morph",` +
		`"html":"<b>&</b>"}],"data":5}`
	if string(e.Bytes()) != want || e.Seq() != 12 {
		t.Errorf("got %d: %s, want 12: %s", e.Seq(), e.Bytes(), want)
	}
	made := 0
	for range 2 {
		frame, err := e.Frame(func(b []byte) (any, error) {
			made++
			return string(b), nil
		})
		if err != nil || frame != want {
			t.Errorf("the frame is %v, %v; want %v, <nil>", frame, err, want)
		}
	}
	if made != 1 {
		t.Errorf("the frame was created %d times, want 1", made)
	}
}

// TestEncodeForAllRefusesAnswers: an answer to one connection cannot be sent to all.
func TestEncodeForAllRefusesAnswers(t *testing.T) {
	for name, m := range map[string]Message{
		"an acknowledgement": {Ack: 1},
		"an error":           {Error: &terms.Refusal{Code: terms.CodeBusy}},
		"data that is none":  {Data: func() {}},
	} {
		if _, err := Encode(1, time.Now(), m); err == nil {
			t.Errorf("%s was encoded", name)
		}
	}
}
