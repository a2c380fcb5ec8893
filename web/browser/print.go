package browser

import (
	"context"
	"os"
	"regexp"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// PDF prints the page with its print styles, and returns the file.
func (tab *Tab) PDF() []byte {
	tab.t.Helper()
	yes := true
	var data []byte
	tab.do("print", chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		printed, err := cdp.Call(
			ctx, target, page.PrintToPDF, page.PrintToPDFParams{PreferCSSPageSize: &yes, PrintBackground: &yes},
		)
		data = printed.Data
		return err
	}))
	return data
}

// Paper shows the page with its print styles, until the screen is set again.
func (tab *Tab) Paper() {
	tab.t.Helper()
	call(tab, "use the print styles", emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
}

// onePage matches a page object in a PDF as Chromium writes it; the list of pages has type
// /Pages.
var onePage = regexp.MustCompile(`/Type\s*/Page\b`)

// Pages counts the pages of a PDF that Chromium wrote.
func Pages(pdf []byte) int { return len(onePage.FindAll(pdf, -1)) }

// Keep saves a file as $VIZ_SHOTS/name for inspection, if $VIZ_SHOTS is set.
func (tab *Tab) Keep(name string, data []byte) {
	tab.t.Helper()
	if dir := os.Getenv("VIZ_SHOTS"); dir != "" {
		tab.write(dir, name, data)
	}
}
