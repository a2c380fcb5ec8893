package class

import "testing"

// Publishing waits for nobody, and who has not looked finds the newest.
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
		t.Errorf("the slow one finds %d, want 999", n.Seq)
	}
	select {
	case n := <-slow:
		t.Errorf("got note %d after the newest, want none", n.Seq)
	case n := <-other:
		t.Errorf("another room gets note %d", n.Seq)
	default:
	}
	stop()
	stop()
	b.Publish("A", Note{1})
	select {
	case <-slow:
		t.Error("one who has left is notified")
	default:
	}
	if len(b.(*broker).rooms) != 1 {
		t.Error("a room without subscribers is remembered")
	}
}
