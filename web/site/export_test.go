package site

import (
	"context"

	"github.com/tokenbytoken/viz/web/tab"
)

// Exported for tests.
var (
	Zip       = zip
	WriteFile = write
)

// Missing returns the 404.html of a site.
func (o Options) Missing(ctx context.Context) (string, error) {
	all := files{}
	door := &tab.Door{Handler: o.Handler, Host: o.Host, Path: "/"}
	err := o.addMissing(ctx, door, all, &described{Files: map[string]bool{}})
	return string(all["404.html"]), err
}
