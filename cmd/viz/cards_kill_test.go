//go:build unix

package main

import (
	"bufio"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"github.com/tokenbytoken/viz/infer/fixture"
)

// visitor is a simulated browser that keeps its cookie.
type visitor struct {
	t    *testing.T
	http *http.Client
}

func newVisitor(t *testing.T) visitor {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return visitor{t, &http.Client{Jar: jar}}
}

func (v visitor) page(r *http.Response, err error) *goquery.Document {
	v.t.Helper()
	if err != nil {
		v.t.Fatal(err)
	}
	defer r.Body.Close()
	d, err := goquery.NewDocumentFromReader(r.Body)
	if err != nil || r.StatusCode != http.StatusOK {
		v.t.Fatalf("status %d, %v; want %d, <nil>", r.StatusCode, err, http.StatusOK)
	}
	return d
}

// review grades the card shown on a page, and returns the next page and the id of the graded card.
func (v visitor) review(base string, d *goquery.Document) (*goquery.Document, string) {
	v.t.Helper()
	field := func(name string) string { return d.Find(`[name="`+name+`"]`).AttrOr("value", "") }
	form := url.Values{"card": {field("card")}, "key": {field("key")}, "grade": {"good"}}
	r, err := http.NewRequest(http.MethodPost, base+"/cards/review", strings.NewReader(form.Encode()))
	if err != nil {
		v.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", base)
	next := v.page(v.http.Do(r))
	if !strings.HasPrefix(strings.TrimSpace(next.Find(".deck__said").Text()), "Saved: good.") {
		v.t.Fatalf(
			"the review was not confirmed: got %q, want it to begin with %q", next.Find(".deck__said").Text(),
			"Saved: good.",
		)
	}
	return next, form.Get("card")
}

// serveIn starts a real viz process on a data folder.
func serveIn(t *testing.T, dir string) (*exec.Cmd, string) {
	t.Helper()
	viz, pipe, errors := process(t, "serve", "-addr", "127.0.0.1:0", "-no-open", "-data", dir)
	line, err := bufio.NewReader(pipe).ReadString('\n')
	if err != nil {
		t.Fatalf("nothing printed: %v, %s", err, errors)
	}
	return viz, strings.TrimSuffix(address1.FindString(line), "/")
}

// TestKilledBetweenReviews: killing viz (SIGKILL) right after it has confirmed a review loses no
// reviews; the next process, on another port, has all of them.
func TestKilledBetweenReviews(t *testing.T) {
	fixture.Long(t)
	dir := t.TempDir()
	v := newVisitor(t)
	var done []string
	for range 3 {
		viz, base := serveIn(t, dir)
		d := v.page(v.http.Get(base + "/cards"))
		if got := strings.TrimSpace(d.Find(`[data-count="later"]`).Text()); got != strconv.Itoa(len(done)) {
			t.Fatalf("%d reviews were confirmed; %s cards are known, want %s", len(done), got, strconv.Itoa(len(done)))
		}
		for range 2 {
			var card string
			d, card = v.review(base, d)
			done = append(done, card)
		}
		if err := viz.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		viz.Wait()
	}
	_, base := serveIn(t, dir)
	d := v.page(v.http.Get(base + "/cards"))
	for _, card := range done {
		if say := d.Find(`.all a[href="/cards?card=` + card + `"] + span`).Text(); !strings.HasPrefix(say, "due ") {
			t.Errorf("the card %s is %q, want it to begin with %q", card, say, "due ")
		}
	}
}
