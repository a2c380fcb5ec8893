package records

import (
	"testing"

	"github.com/tokenbytoken/viz/web/journal"
)

// TestRecordNumbersAreLimited: a record with a number that is out of range is refused, so no number
// can make a list or a room exceed the limits.
func TestRecordNumbersAreLimited(t *testing.T) {
	t.Parallel()
	absurd := []journal.Record{
		{Type: TypeMember, ID: "1", Data: []byte(`{"member":30000003,"learner":"x"}`)},
		{Type: TypeName, ID: "2", Data: []byte(`{"member":65537,"name":"X"}`)},
		{Type: TypePoll, ID: "3", Data: []byte(`{"id":30000003,"round":1,"kind":"next","phase":"open"}`)},
		{Type: TypePoll, ID: "4", Data: []byte(`{"id":1,"round":1,"kind":"neat","phase":"open"}`)},
		{
			Type: TypePoll, ID: "5",
			Data: []byte(`{"id":1,"round":1,"kind":"next","phase":"open","ends":"9999-01-01T00:00:00Z"}`),
		},
		{
			Type: TypePoll, ID: "6",
			Data: []byte(`{"id":1,"round":1,"kind":"next","phase":"open","options":[{"p":1e300}]}`),
		},
		{Type: TypeVote, ID: "1.1.1.1", Data: []byte(`{"poll":1,"round":1,"member":30000003}`)},
		{Type: TypeVote, ID: "1.1.1.2", Data: []byte(`{"poll":1,"round":1,"member":1,"sure":1e9}`)},
		{Type: TypeVote, ID: "1.1.1.3", Data: []byte(`{"poll":1,"round":1,"member":1,"n":-5}`)},
		{Type: TypeSeq, ID: "7", Data: []byte(`{"seq":18446744073709551615}`)},
		{Type: TypeData, ID: "8", Data: []byte(`{"title":"A","step":-3}`)},
		{Type: TypeData, ID: "9", Data: []byte(`{"title":"A","timer":"0001-02-03T00:00:00Z"}`)},
		{Type: TypeBegun, ID: "10", Data: []byte(`{"at":"1800-01-01T00:00:00Z"}`)},
		{Type: TypeData, ID: "9223372036854775807", Data: []byte(`{"title":"B"}`)},
		{Type: TypeData, ID: "x", Data: []byte(`{"title":"B"}`)},
	}
	k := Folding.Begin()
	for _, r := range absurd {
		if Folding.Add(k, r) {
			t.Errorf("record %s %s with data %s is accepted, want it refused", r.Type, r.ID, r.Data)
		}
	}
	if len(k.Members)+len(k.Polls)+len(k.Votes)+len(k.Book.Newest)+k.Book.Last != 0 {
		t.Errorf("unreadable records left %+v", k)
	}
}
