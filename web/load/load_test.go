package load

import (
	"slices"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer/terms"
)

// TestQuantilesByHand: of 200 values, 2 exceed the 99% quantile. For the values from 1 ms to
// 200 ms, the 99% quantile is therefore the 198th value, 198 ms, and the median is the 100th
// value, 100 ms. All quantiles of a single value equal that value.
func TestQuantilesByHand(t *testing.T) {
	var list []time.Duration
	for i := range 200 {
		list = append(list, time.Duration(200-i)*time.Millisecond)
	}
	if got, want := quantilesOf(list), (Quantiles{200, 100, 198, 200}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got, want := quantilesOf(list[:1]), (Quantiles{1, 200, 200, 200}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := quantilesOf(nil).text(terms.English); got != "none" {
		t.Errorf("%q, want none", got)
	}
}

// TestAfterPressCountsOncePerPhone: a press is timed once per phone, from its beginning until the
// phone has received the first later view. A press that was overtaken by a newer one does not
// count, nor does a view that was made before the first press.
func TestAfterPressCountsOncePerPhone(t *testing.T) {
	at := func(ms int) time.Time {
		return time.UnixMilli(1_700_000_000_000).Add(time.Duration(ms) * time.Millisecond)
	}
	presses := []press{{begin: at(100)}, {begin: at(200)}, {begin: at(300)}, {begin: at(400)}}
	took := func(ms int) time.Duration { return time.Duration(ms) * time.Millisecond }
	got := afterPress(presses, []arrival{
		{made: at(90), took: took(5)},
		{made: at(103), took: took(4)},  // for the press at 100: 103 + 4 − 100 = 7
		{made: at(150), took: took(9)},  // for the same press, so it does not count
		{made: at(302), took: took(10)}, // for the press at 300: 12; the press at 200 was overtaken
		{made: at(400), took: took(1)},  // for the press at 400, made at the same moment
		{made: at(500), took: took(1)},
	})
	if want := []time.Duration{took(7), took(12), took(1)}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestReadFrame: the first fields of a message are parsed correctly. A message that is only for one
// phone has no time.
func TestReadFrame(t *testing.T) {
	f, err := readFrame([]byte(`{"seq":12,"at":1700000000000001,"ack":0,"data":{"at":5}}`))
	if err != nil || f.Seq != 12 || f.At.UnixMicro() != 1_700_000_000_000_001 {
		t.Errorf("got %+v, %v; want no error, Seq = 12, At.UnixMicro() = 1_700_000_000_000_001", f, err)
	}
	if f, err = readFrame([]byte(`{"seq":7,"ack":3}`)); err != nil || f.Seq != 7 || !f.At.IsZero() {
		t.Errorf("got %+v, %v; want Seq = 7, At zero, <nil>", f, err)
	}
	for _, bad := range []string{
		"", "{}", `{"seq":}`, `{"seq":-1,"ack":1}`, `{"seq":1,"at":x,"ack":1}`, `{"ack":1,"seq":2}`,
	} {
		if _, err := readFrame([]byte(bad)); err == nil {
			t.Errorf("readFrame(%s): got no error, want an error", bad)
		}
	}
}
