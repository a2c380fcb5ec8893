package classroom_test

import (
	"net/http"
	"net/url"
	"testing"
)

// TestDeletingProgressErasesTheName: deleting your progress also removes you from classes.
// Afterwards, neither you nor the class sees your name.
// Promise: Deleting your progress also erases the name that you gave in a class.
func TestDeletingProgressErasesTheName(t *testing.T) {
	t.Parallel()
	base := serve(t)
	_, code := instructor(t, base, handmade)
	p := newPerson(t, base)
	p.get("/class/" + code)
	p.post("/class/"+code+"/name", url.Values{"nick": {"Rumpel"}})
	if got := p.get("/class/"+code).Find("#nick").AttrOr("value", ""); got != "Rumpel" {
		t.Fatalf("the name is %q, want %q", got, "Rumpel")
	}
	if got := p.post("/progress/delete", url.Values{"sure": {"yes"}}); got.status != http.StatusOK {
		t.Fatalf("delete: got %d, want %d: %s", got.status, http.StatusOK, words(got.Selection))
	}
	if got := p.get("/class/"+code).Find("#nick").AttrOr("value", "none"); got != "" {
		t.Errorf(`after deleting, the name is %q, want ""`, got)
	}
}
