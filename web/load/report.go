package load

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tokenbytoken/viz/infer/terms"
)

// Report is the result of a load test, as printed by viz load -json.
type Report struct {
	Server    string  `json:"server"`
	Platform  string  `json:"platform"`
	CPUs      int     `json:"cpus"`
	Rooms     int     `json:"rooms"`
	Followers int     `json:"followers"` // in each room
	Deaf      int     `json:"deaf"`      // number of phones in the first room that never read
	Seconds   float64 `json:"seconds"`

	// Stages is the number of published stages. Received is the total number of snapshots that
	// arrived on the reading phones. It is less than Stages times the number of phones if only the
	// newer of two stages was sent, and more if the room had other changes. Largest is the size of
	// the largest snapshot.
	Stages   int `json:"stages"`
	Received int `json:"received"`
	Largest  int `json:"largest_bytes"`
	// Publish is the time from the publication of a snapshot of up to 16 KiB until a phone has
	// received it. Larger is the time for larger snapshots.
	Publish Quantiles `json:"publish_to_receive"`
	Larger  Quantiles `json:"publish_to_receive_larger"`
	// Press is how long the instructors' commands took. Phone is the time from such a command until
	// a phone had received the first view that was created after the command.
	Press Quantiles `json:"press_to_answer"`
	Phone Quantiles `json:"press_to_phone"`
	// TokensPerSecond is the rate at which the model generated tokens for the run outside the
	// classes.
	TokensPerSecond float64 `json:"tokens_per_second_beside"`
	DeafCut         int     `json:"deaf_cut_loose"`
	Votes           Votes   `json:"votes"`

	took, tookLarger, presses, pressed []time.Duration
}

// Quantiles summarizes durations, in milliseconds.
type Quantiles struct {
	N   int     `json:"n"`
	P50 float64 `json:"p50_ms"`
	P99 float64 `json:"p99_ms"`
	Max float64 `json:"max_ms"`
}

// quantilesOf returns the quantiles of a list. The q-quantile is the smallest value such that at
// least a share q of all values do not exceed it.
func quantilesOf(list []time.Duration) Quantiles {
	if len(list) == 0 {
		return Quantiles{}
	}
	list = slices.Sorted(slices.Values(list))
	at := func(percent int) float64 {
		return milliseconds(list[(len(list)*percent+99)/100-1])
	}
	return Quantiles{len(list), at(50), at(99), milliseconds(list[len(list)-1])}
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func (q Quantiles) String() string {
	if q.N == 0 {
		return "none"
	}
	return fmt.Sprintf("p50 %.1f ms, p99 %.1f ms, longest %.1f ms", q.P50, q.P99, q.Max)
}

// Text returns the report as text.
func (r *Report) Text() string {
	var b strings.Builder
	row := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-10s %s\n", name, fmt.Sprintf(format, args...))
	}
	row("server", "%s; %s, %d processors, this program among what runs on them", r.Server, r.Platform, r.CPUs)
	row("class", "%s of %s phones%s; the model wrote %.0f tokens a second beside",
		terms.Counted(r.Rooms, "room"), terms.Count(r.Followers), r.deafText(), r.TokensPerSecond)
	row(
		"stages", "%s in %.0f s, %s snapshots received, the largest of %s", terms.Count(r.Stages), r.Seconds,
		terms.Count(r.Received), terms.Bytes(int64(r.Largest)),
	)
	row("publish", "to receive, up to 16 KiB: %s", r.Publish)
	if r.Larger.N > 0 {
		row("", "to receive, above: %s (%s snapshots)", r.Larger, terms.Count(r.Larger.N))
	}
	row("press", "to phone: %s", r.Phone)
	row("", "to answer: %s", r.Press)
	if r.Deaf > 0 {
		row("deaf", "%d of %d phones that never read were cut loose so far", r.DeafCut, r.Deaf)
	}
	row("votes", "%s phones voted within %v and sent each vote %d times: %s messages, %s votes counted",
		terms.Count(r.Votes.Voters), voting, eachSends, terms.Count(r.Votes.Sent), terms.Count(r.Votes.Counted))
	row("", "sent to confirmed: %s", r.Votes.Receipts)
	return b.String()
}

func (r *Report) deafText() string {
	if r.Deaf == 0 {
		return ""
	}
	return fmt.Sprintf(", %d of which never read", r.Deaf)
}

// Check returns an error if votes were lost or counted twice. Durations are reported but not
// checked, since they depend on the machine.
func (r *Report) Check() error {
	if r.Votes.Counted != r.Votes.Voters || r.Votes.Wrong > 0 {
		return errors.New("votes were lost or counted twice")
	}
	return nil
}
