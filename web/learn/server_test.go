package learn_test

import (
	"testing"

	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/webtest"
)

func TestMain(m *testing.M) { browser.Main(m) }

// serve runs the whole server and returns its URL and the course it teaches.
func serve(t *testing.T) (url string, course *lessons.Course) {
	t.Helper()
	return serveIn(t, shell.Numbers)
}

// serveIn is like serve, for learners who have switched to the given view.
func serveIn(t *testing.T, view shell.View) (url string, course *lessons.Course) {
	t.Helper()
	return webtest.Serve(t, webtest.Options{View: view}), webtest.Course(t)
}
