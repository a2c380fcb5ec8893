package browser_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/web/browser"
)

func TestMain(m *testing.M) { browser.Main(m) }

// TestTabDrivesAPage checks the features that the page tests rely on. Its page is so simple that
// only a fault in this package can cause a failure.
func TestTabDrivesAPage(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(`<!doctype html><meta name="viewport" content="width=device-width"><title>t</title>
<input id="in"><button id="b">go</button><p id="out"></p>
<script>
b.onclick = () => out.textContent = "clicked " + document.getElementById("in").value + " " + innerWidth
onkeydown = e => { if (e.key === "ArrowRight") out.textContent = "right" }
</script>`))
	}))
	defer srv.Close()

	tab := browser.Open(t, browser.Phone, srv.URL)
	tab.Type("#in", "héllo")
	tab.Click("#b")
	tab.WaitText("#out", "clicked héllo 390")
	tab.Keys(browser.ArrowRight)
	tab.WaitText("#out", "right")
	tab.Set("#in", "x")
	if got := browser.Value[string](tab, `document.getElementById("in").value`); got != "x" {
		t.Errorf("the input holds %q, want x", got)
	}

	tab.Screen(browser.Screen{Width: 800, Height: 600, Dark: true})
	if !browser.Value[bool](
		tab,
		`matchMedia("(prefers-color-scheme: dark)").matches && matchMedia("(prefers-reduced-motion: reduce)").matches`,
	) {
		t.Error("the page has no dark theme or no reduced motion")
	}

	tab.Eval(`setTimeout(() => { throw new Error("on purpose") }); console.error("loudly")`)
	tab.Wait("two faults", "true")
	var faults []string
	for len(faults) < 2 {
		faults = append(faults, tab.Faults()...)
	}
	if all := strings.Join(faults, "\n"); !strings.Contains(all, "on purpose") || !strings.Contains(all, "loudly") {
		t.Errorf("got faults %q, want only the deliberate ones", faults)
	}
}
