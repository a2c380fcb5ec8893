package labs_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	neturl "net/url"
	"regexp"
	"strconv"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/infer/lab"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/webtest"
)

// TestRowsAreSaved: every table of every lab can be saved as a file. The file has the same rows as
// the file from a different server, except for values that depend on the machine.
func TestRowsAreSaved(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	url := serve(t)
	tab := browser.Open(t, browser.Laptop, url+"/labs")
	hands := browser.Mouse(tab)
	for _, l := range lab.All() {
		i := l.Info(terms.English)
		address := "/labs/" + i.Name + "?" + small[i.Name]
		tab.Go(url + address)
		run(tab, hands)
		downloads := tab.Downloads()
		const all = `[...document.querySelectorAll(".about__rows .btn")].map((a) => a.search)`
		links := browser.Value[[]string](tab, all)
		if len(links) == 0 {
			t.Errorf("%s has no rows to save", i.Name)
		}
		for n, search := range links {
			tab.Click(fmt.Sprintf(".about__rows li:nth-child(%d) .btn", n+1))
			query, err := neturl.ParseQuery(search[1:])
			if err != nil {
				t.Fatal(err)
			}
			table := query.Get("table")
			got := downloads.File(i.Name + "-" + table + ".csv")
			sameRows(t, i.Name+" "+table, got, webtest.Answered(t, "/labs/"+i.Name+"/rows.csv"+search))
		}
	}
}

// ofTheMachine matches the names of columns whose values depend on the machine: times, values
// derived from times, and the last bits of scores.
var ofTheMachine = regexp.MustCompile(
	`\(ms\)|a second|^(fitted|share at the end|R²|speed-up|E/\(γc \+ v\)|c|v|value)$|, bits$`,
)

// sameRows compares two files that contain the same table. Numbers may differ by a thousandth, and
// times by any amount.
func sameRows(t *testing.T, what string, got, want []byte) {
	t.Helper()
	a, errA := csv.NewReader(bytes.NewReader(got)).ReadAll()
	b, errB := csv.NewReader(bytes.NewReader(want)).ReadAll()
	if errA != nil || errB != nil || len(a) != len(b) || len(a) < 2 {
		t.Errorf(
			"%s: saved %d rows, a server sends %d: %v, %v; want %d, at least 2, <nil>, <nil>", what, len(a),
			len(b), errA, errB, len(b),
		)
		return
	}
	for i := range a {
		for j, cell := range a[i] {
			if !ofTheMachine.MatchString(a[0][j]) && !sameCell(cell, b[i][j]) {
				t.Errorf("%s: row %d has %s %q, want %q as on a server", what, i, a[0][j], cell, b[i][j])
			}
		}
	}
}

func sameCell(a, b string) bool {
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	if errX != nil || errY != nil {
		return a == b
	}
	return math.Abs(x-y) <= 1e-3*max(1, math.Abs(y))
}
