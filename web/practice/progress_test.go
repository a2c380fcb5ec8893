package practice

import (
	"bytes"
	"context"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/lessons/predict"
	"github.com/tokenbytoken/viz/web/coursework/courseworktest"
	"github.com/tokenbytoken/viz/web/progress"
	"github.com/tokenbytoken/viz/web/stage"
)

// upload sends a file in the import form.
func (s *site) upload(name string, data []byte) *httptest.ResponseRecorder {
	s.T.Helper()
	var b bytes.Buffer
	m := multipart.NewWriter(&b)
	f, err := m.CreateFormFile("file", name)
	if err != nil {
		s.T.Fatal(err)
	}
	f.Write(data)
	m.Close()
	r := httptest.NewRequest(http.MethodPost, "/progress/import", &b)
	r.Header.Set("Content-Type", m.FormDataContentType())
	return s.Do(r)
}

// visit records that the learner has read the first section, and returns its key.
func (s *site) visit() string {
	s.T.Helper()
	first := s.pages.Course.Lessons[0].Sections[0].Key()
	if err := s.pages.Progress.Visit(s.T.Context(), courseworktest.Learner, first); err != nil {
		s.T.Fatal(err)
	}
	return first
}

// TestProgressExportDeleteImport: saved data is exported, deleted, and imported again unchanged.
// Promise: You can export all your progress, delete it, and import it again as it was.
func TestProgressExportDeleteImport(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	first := s.visit()
	before := s.Tally()

	var forgotten []string
	s.pages.Forget = func(_ context.Context, learner string) error {
		forgotten = append(forgotten, learner)
		return nil
	}

	w := s.Do(httptest.NewRequest(http.MethodGet, "/progress/export", nil))
	file := bytes.Clone(w.Body.Bytes())
	if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "application/json" ||
		!strings.HasPrefix(
			w.Header().Get("Content-Disposition"), "attachment",
		) || !bytes.Contains(file, []byte(first)) {
		t.Fatalf("exporting: got %d %v %s, want 200 and a JSON file with the visit", w.Code, w.Header(), file)
	}
	if w = s.Post("/progress/delete", false, nil); w.Code != http.StatusBadRequest || s.Tally() != before ||
		forgotten != nil {
		t.Errorf("deleting without checking the box: status %d", w.Code)
	}
	w = s.Post("/progress/delete", false, url.Values{"sure": {"yes"}})
	if w.Code != http.StatusSeeOther || s.Tally().Seen != 0 ||
		!slices.Equal(forgotten, []string{courseworktest.Learner}) {
		t.Errorf(
			"delete: status %d, %+v, removed from classes: %v; want w.Code = %d, Seen = 0, forgotten = %v", w.Code,
			s.Tally(), forgotten, http.StatusSeeOther, []string{courseworktest.Learner},
		)
	}
	if d := s.Get(w.Header().Get("Location")); !strings.HasPrefix(text(d.Find(".toldline")), "Erased.") {
		t.Errorf("after deleting: got %q, want it to begin with %q", text(d.Find(".toldline")), "Erased.")
	}
	w = s.upload("progress.json", file)
	if w.Code != http.StatusSeeOther || s.Tally() != before {
		t.Errorf("import: status %d, %+v, want %+v", w.Code, s.Tally(), before)
	}
	if d := s.Get(w.Header().Get("Location")); text(d.Find(".toldline")) != "Imported: 1 section." {
		t.Errorf("after importing: got %q, want %q", text(d.Find(".toldline")), "Imported: 1 section.")
	}
	w = s.upload("progress.json", file)
	if d := s.Get(w.Header().Get("Location")); text(d.Find(".toldline")) != "Imported. All of it was already here." {
		t.Errorf(
			"after importing again: got %q, want %q", text(d.Find(".toldline")),
			"Imported. All of it was already here.",
		)
	}
}

// TestImportRefused: an invalid file is refused as a whole, with the reason next to the field,
// and changes nothing.
func TestImportRefused(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.visit()
	before := s.Tally()
	export := s.Do(httptest.NewRequest(http.MethodGet, "/progress/export", nil)).Body.Bytes()
	for name, c := range map[string]struct {
		data   []byte
		status int
	}{
		"empty":      {nil, http.StatusBadRequest},
		"no JSON":    {[]byte("<script>alert(1)</script>"), http.StatusBadRequest},
		"cut short":  {export[:len(export)-10], http.StatusBadRequest},
		"other JSON": {[]byte(`{"hello": 1}`), http.StatusBadRequest},
		"too large":  {bytes.Repeat([]byte(" "), progress.MaxImport+1), http.StatusRequestEntityTooLarge},
	} {
		d := s.Parse(name, s.upload("x.json", c.data), c.status)
		said := text(d.Find("#import-error"))
		if !strings.HasPrefix(said, "Nothing was imported. ") || len(said) < 40 {
			t.Errorf("%s: got %q; want at least 40 bytes that begin with %q", name, said, "Nothing was imported. ")
		}
		if d.Find(`#file[aria-invalid="true"][aria-describedby="import-error"]`).Length() != 1 {
			t.Errorf("%s: the field is not marked as invalid", name)
		}
		if s.Tally() != before {
			t.Errorf("%s: something was saved", name)
		}
	}
	w := s.Do(httptest.NewRequest(http.MethodPost, "/progress/import", strings.NewReader("x")))
	if w.Code != http.StatusBadRequest {
		t.Errorf("a form without a file: status %d", w.Code)
	}
}

// TestDoneMessageIsFixed: a crafted address cannot make the page show arbitrary text.
func TestDoneMessageIsFixed(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]string{
		"":             "",
		"done=x":       "",
		"done=deleted": "Erased. Nothing about you is saved here anymore.",
		"done=imported&visits=2&answers=1&reviews=0&guesses=3": "Imported: 2 sections, 1 answer, 3 guesses.",
		"done=imported&guesses=1":                              "Imported: 1 guess.",
		"done=imported&visits=<b>&answers=-4":                  "Imported. All of it was already here.",
	} {
		q, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		if got := doneText(stage.English, q, false); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
}

// TestCalibrationPicture checks the positions of two bins that were computed by hand. The sides of
// the square are 240 units long, and its upper left corner is at (40, 28). A stated confidence of
// 0.25 is at x = 40 + 60 = 100, and 0.9 is at x = 256. A hit rate of 0.5 is at y = 28 + 120 = 148,
// and 1 is at y = 28. The dot for four guesses has a radius of 4 + 2·√4 = 8, and its number is 4
// units above it.
func TestCalibrationPicture(t *testing.T) {
	t.Parallel()
	v := newCalibrationChart(stage.English, progress.Calibration{
		N: 5, Right: 3, Stated: 0.38, Score: -0.55,
		Bins: []predict.Bin{
			{From: 0, To: 0.1},
			{From: 0.2, To: 0.3, N: 4, Hits: 2, Stated: 0.25, Rate: 0.5},
			{From: 0.9, To: 1, N: 1, Hits: 1, Stated: 0.9, Rate: 1},
		},
	})
	want := []calibrationDot{
		{X: "100", Y: "148", R: "8", LabelY: "136", N: "4", Say: "4 guesses at 25%, right 50% of the time"},
		{X: "256", Y: "28", R: "6", LabelY: "18", N: "1", Say: "1 guess at 90%, right 100% of the time"},
	}
	if len(v.Dots) != 2 || v.Dots[0] != want[0] || v.Dots[1] != want[1] {
		t.Errorf("dots %+v, want %+v", v.Dots, want)
	}
	if len(v.Rows) != 2 || v.Rows[0] != (calibrationRow{"20% to 30%", "4", "25%", "50%"}) {
		t.Errorf("rows %+v, want 2 elements, [0] = %+v", v.Rows, calibrationRow{"20% to 30%", "4", "25%", "50%"})
	}
	// 3 right guesses of 5 are 60%, and five guesses are too few for a verdict.
	if v.Hits != "60%" || !strings.HasPrefix(v.Say, "Too few guesses") || v.Score != "−0.55" {
		t.Errorf(
			"got %q, %q, %q; want %q, one that begins with %q, %q", v.Hits, v.Say, v.Score, "60%", "Too few guesses",
			"−0.55",
		)
	}
	for _, c := range []struct {
		progress.Calibration
		want string
	}{
		{progress.Calibration{N: 10, Right: 6, Stated: 0.38}, "You are right more often"}, // 0.60 − 0.38 = 0.22
		{progress.Calibration{N: 12, Right: 6, Stated: 0.75}, "You are surer"},            // 0.75 − 0.50 = 0.25
		{progress.Calibration{N: 10, Right: 6, Stated: 0.65}, "What you say"},             // 0.65 − 0.60 = 0.05
		{progress.Calibration{N: 9, Right: 0, Stated: 0.9}, "Too few guesses"},
	} {
		if say := newCalibrationChart(stage.English, c.Calibration).Say; !strings.HasPrefix(say, c.want) {
			t.Errorf(
				"%d guesses, %d right, %g stated: got %q, want it to begin with %q", c.N, c.Right, c.Stated, say,
				c.want,
			)
		}
	}
	if v := newCalibrationChart(stage.English, progress.Calibration{}); v.N != 0 || v.Say != "" || len(v.Dots) != 0 {
		t.Errorf(`without guesses: got %+v, want N = 0, Say = "", len(Dots) = 0`, v)
	}
}

// TestProgressPageStatesRetentionPerPlace: the progress page states what is kept, and for how long,
// which depends on where the program runs.
func TestProgressPageStatesRetentionPerPlace(t *testing.T) {
	t.Parallel()
	for keeping, want := range map[Keeping]string{
		Expires:   "It is kept for 400 days after you last did something, and then deleted.",
		InBrowser: "It is saved in this browser and nowhere else, until you delete it here.",
		Nowhere:   "This browser saves nothing for this site",
	} {
		s := newSite(t)
		s.pages.Keeping = keeping
		if got := text(s.Get("/progress").Find("#yours .band__say")); !strings.HasPrefix(got, want) {
			t.Errorf("%d: the page shows %q, want %q", keeping, got, want)
		}
		onServer := keeping == Expires
		page := text(s.Get("/progress").Find("main"))
		for words, there := range map[string]bool{
			"this server": onServer, "a class": onServer, "the classes you joined": onServer,
			"What this browser": !onServer, "any text you wrote": false, "only your sentence for the lessons": true,
			"your guesses and your sentence": true,
		} {
			if got := strings.Contains(page, words); got != there {
				t.Errorf("%d: the page contains %q: got %v, want %v", keeping, words, got, there)
			}
		}
	}
}
