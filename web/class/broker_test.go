package class

import "testing"

// TestBrokerKeepsOnlyTheNewest: Publish does not block, and a slow subscriber gets only the
// newest note.
func TestBrokerKeepsOnlyTheNewest(t *testing.T) {
	t.Parallel()
	b := NewBroker()
	slow, stop := b.Subscribe("A")
	other, stopOther := b.Subscribe("B")
	defer stopOther()
	for seq := range uint64(1000) {
		b.Publish("A", Note{seq})
	}
	if n := <-slow; n.Seq != 999 {
		t.Errorf("a slow subscriber gets note %d, want 999", n.Seq)
	}
	select {
	case n := <-slow:
		t.Errorf("got note %d after the newest, want none", n.Seq)
	case n := <-other:
		t.Errorf("a subscriber of another room gets note %d", n.Seq)
	default:
	}
	stop()
	stop()
	b.Publish("A", Note{1})
	select {
	case <-slow:
		t.Error("a note was sent to a subscription that has ended")
	default:
	}
	if len(b.(*broker).rooms) != 1 {
		t.Error("the broker still has a room without subscribers")
	}
}
