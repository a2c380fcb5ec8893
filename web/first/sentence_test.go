package first_test

import (
	"net/http"
	"strings"
	"testing"
)

// sentenceIsSaved checks that the sentence of a first run is saved with the learner's progress once
// the learner continues with it, or leaves with it. A link to a first run saves nothing, and neither
// does someone else's run, even if the learner continues or leaves it. The Loop begins with the sentence, unless
// a link gives another.
func sentenceIsSaved(t *testing.T, s site) {
	saved := func(s site) bool { return strings.Contains(s.open("/progress/export").html, begins) }
	read := s.to("read")
	if saved(s) {
		t.Error("the address of a first run saves its sentence")
	}
	read.press(main).mustBe("guess")
	if !saved(s) {
		t.Error("the sentence is not saved after the first scene")
	}
	if got := s.open("/loop").Find("#prompt").Text(); got != begins {
		t.Errorf("the Loop begins with %q, want %q", got, begins)
	}
	other, _ := linkAt(t, 3, "The capital of France is")
	for _, path := range []string{"/loop?prompt=The+capital+of+France+is", loopWith(other)} {
		if got := s.open(path).Find("#prompt").Text(); got != "The capital of France is" {
			t.Errorf("%s begins with %q, want its own prompt", path, got)
		}
	}
	if got := s.another().open("/loop").Find("#prompt").Text(); got != "" {
		t.Errorf("the Loop of another learner begins with %q", got)
	}
	left := s.another()
	left.to("read").press(".fr__ways button")
	if !saved(left) {
		t.Error("the sentence of a learner who leaves is not saved")
	}
	const leave = ".fr__ways button"
	guest := s.another()
	guest.open(read.at.RequestURI()).press(leave)
	if saved(guest) {
		t.Error("the sentence of someone else's run is saved")
	}
	theirs := s.open(at("read", other)).mustBe("read")
	for _, button := range []string{main, leave} {
		if theirs.press(button); !saved(s) {
			t.Errorf("%s: someone else's run replaces the learner's sentence", button)
		}
	}
	// Someone else's run while one's own is at the same scene.
	own := s.another()
	own.to("read")
	own.open(at("read", other)).press(main)
	if strings.Contains(own.open("/progress/export").html, "France") {
		t.Error("someone else's sentence is saved before one's own")
	}
	// A link on another site that starts a run.
	link, err := http.NewRequest(http.MethodGet, s.url+"/first?prompt=The+capital+of+France+is", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	link.Header.Set("Sec-Fetch-Site", "cross-site")
	s.page(s.Do(link)).mustBe("read").press(main).mustBe("guess")
	if !saved(s) {
		t.Error("a link on another site replaces the learner's sentence")
	}
}
