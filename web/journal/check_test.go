package journal

import (
	"testing"
	"time"
)

// TestCheckReadsAllRecords: Check counts all records in the logs of a kind, and the
// unreadable ones among them.
func TestCheckReadsAllRecords(t *testing.T) {
	t.Parallel()
	j := NewMemory()
	for _, name := range []string{"a", "b"} {
		if _, err := j.Append(t.Context(), Batch{
			Owner: Owner{Learner, name}, At: time.Now(),
			Records: []Record{{Type: "good", ID: "1"}, {Type: "bad", ID: "2"}, {Type: "good", ID: "3"}},
		}); err != nil {
			t.Fatal(err)
		}
	}
	readable := func(r Record) bool { return r.Type == "good" }
	if c, err := Check(t.Context(), j, Learner, readable); err != nil || c != (Checked{2, 6, 2, 0}) {
		t.Errorf("got %+v, %v; want %+v, <nil>", c, err, Checked{2, 6, 2, 0})
	}
	if c, err := Check(t.Context(), j, Room, readable); err != nil || c != (Checked{}) {
		t.Errorf("got %+v, %v; want %+v, <nil>", c, err, Checked{})
	}
}
