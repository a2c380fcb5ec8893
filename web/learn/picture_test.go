package learn

import (
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"github.com/tokenbytoken/viz/lessons"
)

// TestPicturesShowEveryState: every lesson's picture is rendered in all its states, each with its
// description, and each state can be reached without scripts.
func TestPicturesShowEveryState(t *testing.T) {
	t.Parallel()
	s := newReader(t)
	for _, l := range s.pages.Course.Lessons {
		d, states := s.Get(l.Href()), l.Pictures()
		if n := d.Find(".pic__steps input[type=radio]").Length(); n != len(states) {
			t.Errorf("%s: got %d steps, want %d, one for each state", l.Slug, n, len(states))
		}
		if n := d.Find(".pic__steps [checked]").Length(); len(states) > 0 && n != 1 {
			t.Errorf("%s: got %d states chosen at first, want 1", l.Slug, n)
		}
		d.Find(".pic__state").Each(func(i int, e *goquery.Selection) {
			in := e.Find(".pic__in.pic--" + string(states[i].Kind))
			if in.Length() != 1 || in.Find(".map__net").Length() != 1 || text(in.Find("p.sr")) == "" {
				t.Errorf("%s: the state %s is not drawn: %s", l.Slug, states[i].Kind, text(e))
			}
			// There are columns for the start token, the sentence's tokens, and three more.
			sentence, ok := map[string]int{
				lessons.Sentence: 6, "The capital of France is": 5, "Seven times eight is": 5,
			}[l.Sentence]
			want := 1 + sentence + 3
			if !ok {
				t.Fatalf("%s: nobody has counted the tokens of %q", l.Slug, l.Sentence)
			}
			if n := in.Find(".map__toks > span").Length(); n != want {
				t.Errorf("%s: the state %s has %d columns, want a total of %d", l.Slug, states[i].Kind, n, want)
			}
			if d.Find("main [id="+states[i].ID+"]").Length() != 1 {
				t.Errorf("%s: no place in the text for %s", l.Slug, states[i].ID)
			}
		})
	}
}

// TestPictureShowsRefusedGuesses: the guesses and their verdicts match a round of the speculator.
// With seed 8, the first guess is refused, and the two after it are therefore discarded.
func TestPictureShowsRefusedGuesses(t *testing.T) {
	t.Parallel()
	s := newSite(t).withDraft()
	v, err := newArtist(s.pages.environment(""), lessons.Sentence).picture(t.Context(), lessons.Picture{
		Kind: lessons.PictureGuesses, Params: map[string]string{"gamma": "3", "seed": "8"},
	})
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, f := range v.Twin {
		said = append(said, f.Name+" "+f.Say)
	}
	const want = "·small 47%, refused; ·house thrown away; . thrown away; ·far the large model’s own"
	if got := strings.Join(said, "; "); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestPictureWithoutADraft: without a draft model, the picture shows a message in place of
// guesses, and its other states still work.
func TestPictureWithoutADraft(t *testing.T) {
	t.Parallel()
	d := newSite(t).Get("/learn/speculative-decoding")
	if n := d.Find(".pic__trouble").Length(); n != 2 {
		t.Errorf("%d states say that there is no draft, want 2", n)
	}
	if d.Find(".pic--cache .map__net").Length() != 1 {
		t.Error("the first state is not drawn")
	}
}
