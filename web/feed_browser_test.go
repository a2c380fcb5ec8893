package web_test

import (
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/webtest"
)

// TestFeedReconnects: a page whose connections are cut keeps its contents. Once it has reconnected,
// it carries out what the user requested in the meantime.
func TestFeedReconnects(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	p := browser.NewProxy(t)
	url := webtest.Serve(t, webtest.Options{Hosts: shell.LoopbackHosts(p.Addr().String()), View: shell.Numbers})
	p.To(strings.TrimPrefix(url, "http://"))
	tab := browser.Open(t, browser.Laptop, p.URL()+"/learn/temperature")
	tab.MayLose()
	tab.Click("figure.widget .commit__btn")
	tab.Wait("the experiment after a guess", `document.querySelector("figure.widget caption")`)
	const slider = "figure.widget [name=t]"
	caption := func(temperature string) string {
		return `document.querySelector("figure.widget caption").textContent.includes("T = ` + temperature + `")`
	}
	tab.Set(slider, "2")
	tab.Wait("the first answer", caption("2.00"))
	p.Lose(func() { tab.Set(slider, "0.5") })
	tab.Wait("a message about the cut", `document.querySelector("figure.widget [data-feed-say]").textContent !== ""`)
	if !browser.Value[bool](tab, caption("2.00")) {
		t.Error("the old content is gone")
	}
	p.Mend()
	tab.Eval(`dispatchEvent(new Event('online'))`)
	tab.Wait("an answer on another connection", caption("0.50"))
	tab.Wait("the end of that message", `document.querySelector("figure.widget [data-feed-say]").textContent === ""`)
	if said := tab.Text("figure.widget [data-feed-error]"); said != "" {
		t.Errorf(`the page shows the message %q, want ""`, said)
	}
}
