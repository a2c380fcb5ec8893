package load

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
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

	// Stages is the number of published stages. Received is the total number of snapshots that have
	// arrived on the phones that read. It is less than Stages times the number of these phones if
	// the server skipped stages because newer ones were available, and more if the room had other
	// changes. Largest is the size of the largest snapshot.
	Stages   int `json:"stages"`
	Received int `json:"received"`
	Largest  int `json:"largest_bytes"`
	// Publish is the time from the publication of a snapshot of up to 16 KiB until a phone has
	// received it. Larger is the time for larger snapshots.
	Publish Quantiles `json:"publish_to_receive"`
	Larger  Quantiles `json:"publish_to_receive_larger"`
	// Press is how long the instructors' commands took. Phone is the time from such a command until
	// a phone had received the first view that was made after the command.
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
// least a share q of the values do not exceed it.
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

// text returns the quantiles as text.
func (q Quantiles) text(w *terms.Language) string {
	if q.N == 0 {
		return w.T("cmd.load.none")
	}
	ms := func(x float64) string { return fmt.Sprintf("%.1f", x) }
	return w.T("cmd.load.times", "p50", ms(q.P50), "p99", ms(q.P99), "max", ms(q.Max))
}

// Text returns the report as text in a language.
func (r *Report) Text(w *terms.Language) string {
	var b strings.Builder
	row := func(name, key string, with ...any) {
		if name != "" {
			name = w.T(name)
		}
		fmt.Fprintf(&b, "%-10s %s\n", name, w.T(key, with...))
	}
	row("cmd.load.server", "cmd.load.server.say", "server", r.Server, "platform", r.Platform, "n", r.CPUs)
	class := "cmd.load.class.say"
	if r.Deaf > 0 {
		class = "cmd.load.class.deaf"
	}
	row(
		"cmd.load.class", class, "rooms", w.Counted(r.Rooms, "room"), "phones", r.Followers,
		"deaf", strconv.Itoa(r.Deaf), "tokens", fmt.Sprintf("%.0f", r.TokensPerSecond),
	)
	row(
		"cmd.load.stages", "cmd.load.stages.say", "stages", r.Stages, "seconds", fmt.Sprintf("%.0f", r.Seconds),
		"received", r.Received, "size", w.Bytes(int64(r.Largest)),
	)
	row("cmd.load.publish", "cmd.load.publish.say", "times", r.Publish.text(w))
	if r.Larger.N > 0 {
		row("", "cmd.load.publish.larger", "times", r.Larger.text(w), "n", r.Larger.N)
	}
	row("cmd.load.press", "cmd.load.press.phone", "times", r.Phone.text(w))
	row("", "cmd.load.press.answer", "times", r.Press.text(w))
	if r.Deaf > 0 {
		row("cmd.load.deaf", "cmd.load.deaf.say", "cut", strconv.Itoa(r.DeafCut), "all", strconv.Itoa(r.Deaf))
	}
	row(
		"cmd.load.votes", "cmd.load.votes.say", "voters", r.Votes.Voters, "time", voting,
		"times", strconv.Itoa(eachSends), "sent", r.Votes.Sent, "counted", r.Votes.Counted,
	)
	row("", "cmd.load.votes.receipts", "times", r.Votes.Receipts.text(w))
	return b.String()
}

// Check returns an error if votes were lost or counted twice. It does not check durations, since
// they depend on the machine.
func (r *Report) Check() error {
	if r.Votes.Counted != r.Votes.Voters || r.Votes.Wrong > 0 {
		return errors.New("votes were lost or counted twice")
	}
	return nil
}
