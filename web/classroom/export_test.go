package classroom

import (
	"net"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/stage"
)

// FallsHTML returns the HTML of a three-segment strip with the given numbers, as shown on the wall
// or a phone, and the number of names that do not fit.
func FallsHTML(t *testing.T, wall bool, falls []class.Fall) (html string, more int) {
	t.Helper()
	q := &poll{Poll: &class.Poll{ID: "1.1", Kind: class.Draw, Falls: falls}}
	for i, share := range []float64{0.5, 0.3, 0.2} {
		q.Options = append(q.Options, option{
			Option: class.Option{Q: share}, Label: stage.Text{{S: []string{"little", "young", "king"}[i]}},
		})
	}
	space := phoneFalls
	if wall {
		space = wallFalls
	}
	s := q.falls(space)
	var b strings.Builder
	if err := fallsHTML(s).Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return b.String(), s.More
}

// Held returns the number of rooms that keep the listener open.
func (p *Phones) Held() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.rooms)
}

// ListenTCP is the value of [PhonesConfig.Listen] on a server.
func ListenTCP(address string) (net.Listener, error) { return net.Listen("tcp", address) }

// StudyAnswers returns the answers that a class's table for a study contains.
var StudyAnswers = studyAnswers
