package practice

import (
	"strings"
	"testing"
)

// TestAssignedTasksFromTheAddress: the page lists the tasks in its address, with the learner's
// progress, and no others. It counts tasks that the course does not have, but never shows them.
// Promise: One link assigns lessons and drills, and its page shows how far you are.
func TestAssignedTasksFromTheAddress(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	d := s.Get("/assigned?do=learn/temperature&do=practice/five&do=learn/none&do=<script>x</script>")
	if n := d.Find(".tasks--do > li").Length(); n != 2 {
		t.Fatalf("%d tasks, want 2", n)
	}
	for _, href := range []string{"/learn/temperature", "/practice/five"} {
		if d.Find(`.tasks--do a[href="`+href+`"]`).Length() != 1 {
			t.Errorf("no task leads to %s", href)
		}
	}
	if say := d.Find(".toldline").Text(); !strings.Contains(say, "2 tasks that this course") {
		t.Errorf("the message about missing tasks is %q", say)
	}
	if html, _ := d.Find("main").Html(); strings.Contains(html, "<script>") {
		t.Error("a task from the address reaches the page as markup")
	}
	if d.Find(`a[href="/progress/export"][download]`).Length() != 1 {
		t.Error("the results cannot be saved")
	}
	if been := d.Find(".tasks--do > li").Last().Find("span").Last().Text(); strings.TrimSpace(been) != "not started" {
		t.Errorf("the progress of a drill that was not started is %q", been)
	}
	choose := s.Get("/assigned")
	if n := choose.Find(`input[name="do"]`).Length(); n < len(s.pages.Course.Lessons)+7 {
		t.Errorf("got %d tasks to choose from, want at least %d", n, len(s.pages.Course.Lessons)+7)
	}
}
