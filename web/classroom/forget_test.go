package classroom_test

import (
	"net/http"
	"net/url"
	"testing"
)

// Who deletes their progress is deleted as a member of a class, too: the name
// they gave is not known any more, neither to them nor to the class.
// Promise: Deleting your progress also erases the name that you gave in a class.
func TestDeletingProgressErasesTheName(t *testing.T) {
	t.Parallel()
	base := serve(t)
	_, code := teacher(t, base, handmade)
	p := newPerson(t, base)
	p.get("/class/" + code)
	p.post("/class/"+code+"/name", url.Values{"nick": {"Rumpel"}})
	if got := p.get("/class/"+code).Find("#nick").AttrOr("value", ""); got != "Rumpel" {
		t.Fatalf("named %q, want %q", got, "Rumpel")
	}
	if got := p.post("/progress/delete", url.Values{"sure": {"yes"}}); got.status != http.StatusOK {
		t.Fatalf("delete: got %d, want %d: %s", got.status, http.StatusOK, words(got.Selection))
	}
	if got := p.get("/class/"+code).Find("#nick").AttrOr("value", "none"); got != "" {
		t.Errorf(`after deleting, named %q, want ""`, got)
	}
}
