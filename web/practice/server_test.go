package practice_test

import (
	"testing"

	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/webtest"
)

func TestMain(m *testing.M) { browser.Main(m) }

// serve runs the whole server and returns its URL and the course it teaches.
func serve(t *testing.T) (url string, course *lessons.Course) {
	t.Helper()
	return webtest.Serve(t, webtest.Options{}), webtest.Course(t)
}
