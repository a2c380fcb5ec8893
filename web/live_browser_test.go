package web

import (
	"net"
	"testing"

	"github.com/tokenbytoken/viz/web/browser"
)

// TestFeedComesBack: a page whose connections are cut keeps what it shows, says
// so where it takes a while, and carries out what was asked meanwhile.
func TestFeedComesBack(t *testing.T) {
	t.Parallel()
	x := newSite(t, Limits{})
	tab := visit(t, x, browser.Laptop)
	tab.MayLose()
	tab.Go(x.http.URL + "/learn/temperature")
	const slider = "figure.widget [name=t]"
	caption := func(temperature string) string {
		return `document.querySelector("figure.widget caption").textContent.includes("T = ` + temperature + `")`
	}
	tab.Set(slider, "2")
	tab.Wait("the first answer", caption("2.00"))
	cut := 0
	x.conns.Range(func(c, _ any) bool {
		if c.(net.Conn).Close() == nil {
			cut++
		}
		return true
	})
	if cut == 0 {
		t.Fatal("there was no connection to cut")
	}
	tab.Set(slider, "0.5")
	tab.Wait("an answer on another connection", caption("0.50"))
	tab.Wait("no word of it any more", `document.querySelector("figure.widget [data-feed-say]").textContent === ""`)
	if said := tab.Text("figure.widget [data-feed-error]"); said != "" {
		t.Errorf("it says %q", said)
	}
}
