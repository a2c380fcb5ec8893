package classroom

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/classtest"
	"github.com/tokenbytoken/viz/web/class/room"
	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/store"
)

// TestWhoMayAsk: only a browser on this machine that uses the main listener and one of the
// machine's own names may let phones in.
func TestWhoMayAsk(t *testing.T) {
	main := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080}
	p := NewPhones(PhonesConfig{Main: main})
	for _, c := range []struct {
		name       string
		at         net.Addr
		peer, host string
		want       bool
	}{
		{"this machine", main, "127.0.0.1:5000", "127.0.0.1:8080", true},
		{"by name", main, "127.0.0.1:5000", "localhost:8080", true},
		{"in IPv6", main, "[::1]:5000", "[::1]:8080", true},
		{"as IPv4 in IPv6", main, "[::ffff:127.0.0.1]:5000", "127.0.0.1:8080", true},
		{"another machine", main, "192.168.0.7:5000", "127.0.0.1:8080", false},
		{"no address", main, "@", "127.0.0.1:8080", false},
		{"another name", main, "127.0.0.1:5000", "class.example", false},
		{"another listener", &net.TCPAddr{IP: main.IP, Port: 8081}, "127.0.0.1:5000", "127.0.0.1:8080", false},
		{"no listener", nil, "127.0.0.1:5000", "127.0.0.1:8080", false},
	} {
		r := httptest.NewRequest(http.MethodGet, "/teach", nil)
		r.RemoteAddr, r.Host = c.peer, c.host
		if c.at != nil {
			r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, c.at))
		}
		if got := p.mayAsk(r); got != c.want {
			t.Errorf("%s: got %t, want %t", c.name, got, c.want)
		}
	}
}

// localPhones returns a phone listener that listens on this machine and serves nothing.
func localPhones(t *testing.T, linger time.Duration) *Phones {
	t.Helper()
	p := NewPhones(PhonesConfig{
		Main: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}, Linger: linger,
		Hosts: func() []PhoneHost { return []PhoneHost{{IP: "127.0.0.1"}} },
		Serve: func(l net.Listener, _ *url.URL) func() { return func() { l.Close() } }, Listen: ListenTCP,
	})
	t.Cleanup(p.End)
	return p
}

// stillRuns opens runs that never advance, because these tests do not need a running model.
type stillRuns struct{ st *session.State }

func (d stillRuns) Open(context.Context, string, string) (class.Run, error)     { return d, nil }
func (d stillRuns) Do(context.Context, session.Command) (*session.State, error) { return d.st, nil }
func (d stillRuns) State() *session.State                                       { return d.st }
func (d stillRuns) Watch(func()) (stop func())                                  { return func() {} }
func (d stillRuns) Done() <-chan struct{}                                       { return nil }
func (d stillRuns) Close()                                                      {}

// TestPhonesStayWithTheirClass: the listener stays open for [PhonesConfig.Linger] after a
// class has ended, and longer if the class is reopened or another class needs it. The walls
// are notified when the listener opens and closes.
func TestPhonesStayWithTheirClass(t *testing.T) {
	runs := stillRuns{stateAt(t, infer.KindForward)}
	synctest.Test(t, func(t *testing.T) { testPhonesStay(t, runs) })
}

func testPhonesStay(t *testing.T, runs stillRuns) {
	db, err := store.Open("", nil)
	if err != nil {
		t.Fatal(err)
	}
	hub, err := room.NewHub(t.Context(), room.Config{
		Logs: journal.For(db), Secrets: db, Course: &lessons.Course{}, Driver: runs,
		NewRooms: admission.NewMeter(admission.Pace{}, nil),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	defer hub.Close(context.Background())
	ada := admission.Caller{Learner: "ada"}
	newRoom := func() (class.Room, func(class.Command)) {
		room, secret, err := hub.Create(t.Context(), ada, class.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return room, func(c class.Command) {
			t.Helper()
			if _, err := classtest.Execute(t.Context(), room, "ada", secret, c); err != nil {
				t.Fatal(err)
			}
		}
	}
	p := localPhones(t, time.Hour)
	first, does := newRoom()
	second, doesLater := newRoom()
	notes, stop := hub.Broker().Subscribe(first.Code())
	defer stop()
	open := func(when string, want bool) {
		t.Helper()
		synctest.Wait()
		if got := p.Host() != ""; got != want {
			t.Errorf("%s: open is %t, want %t", when, got, want)
		}
	}
	told := func(when string) {
		t.Helper()
		synctest.Wait()
		select {
		case <-notes:
		default:
			t.Errorf("%s: the walls were not notified", when)
		}
	}

	if err := p.open(hub, first, "127.0.0.1"); err != nil {
		t.Fatal(err)
	}
	told("phones are let in")
	does(class.End{})
	fixture.Pass(59 * time.Minute)
	open("59 minutes after the class", true)
	does(class.Reopen{})
	fixture.Pass(3 * time.Hour)
	open("hours after the class was opened again", true)
	does(class.End{})
	fixture.Pass(59 * time.Minute)
	p.join(hub, second)
	fixture.Pass(2 * time.Minute)
	open("an hour after the first class, in the second", true)
	doesLater(class.Delete{})
	open("after the last class", false)

	if err := p.open(hub, first, "127.0.0.1"); err != nil {
		t.Fatal(err)
	}
	told("phones are let in again")
	p.Close()
	told("phones are shut out")
}

// TestWallShowsWherePhonesJoin: an open wall is updated when the listener opens or closes.
func TestWallShowsWherePhonesJoin(t *testing.T) {
	t.Parallel()
	st := stateAt(t, infer.KindForward)
	v := &class.View{Seq: 7, Code: "ABCDEF", State: st}
	phones := localPhones(t, 0)
	p := &Pages{rest: st, Deps: Deps{Phones: phones, Access: Access{Local: true}}}
	shows := func(address string) {
		t.Helper()
		e, err := p.snapshot(t.Context(), v, variant{onWall, shell.Numbers})
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"<b>" + address + "/join", "QR code: http://" + address + "/class/ABCDEF"} {
			if !strings.Contains(strings.ReplaceAll(string(e.Bytes()), `\u003c`, "<"), want) {
				t.Errorf("the wall does not show %q", want)
			}
		}
	}
	shows("127.0.0.1:0") // the server's own address
	phones.mu.Lock()
	err := phones.listen("127.0.0.1")
	phones.mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	shows(phones.Host())
	phones.Close()
	shows("127.0.0.1:0")
}
