package why

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/PuerkitoBio/goquery"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/infer/why"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/stage"
)

type measure = func(ctx context.Context, m *infer.Model, done func(share float64)) (*why.Findings, error)

// TestHeadsAreMeasuredOnce: while the heads are being measured, visitors see the progress and the
// rest of the page. The heads are measured only once, and everyone then sees the results.
func TestHeadsAreMeasuredOnce(t *testing.T) {
	var begun int
	half, rest := make(chan struct{}), make(chan struct{})
	s := New(Deps{
		Model: testmodel.Target(t), Replays: admission.NewQueue(admission.DefaultLimits().Links, 0),
		Caller: func(*http.Request) (admission.Caller, *http.Cookie) { return admission.Caller{Learner: "a"}, nil },
		Log:    slog.New(slog.DiscardHandler),
	})
	s.finder = finder{wait: time.Nanosecond, measure: func(
		_ context.Context, _ *infer.Model, done func(share float64),
	) (*why.Findings, error) {
		begun++
		done(0.5)
		close(half)
		<-rest
		return &why.Findings{Texts: 6, Row: 20}, nil
	}}
	get := func(path string) (int, string) {
		w := httptest.NewRecorder()
		mux := http.NewServeMux()
		s.Mount(mux)
		mux.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, http.NoBody))
		return w.Code, w.Body.String()
	}
	get("/why?heads=1")
	<-half
	if status, page := get("/why?heads=1"); status != http.StatusOK || !strings.Contains(page, "50% done") ||
		!strings.Contains(page, "21.30") || strings.Contains(page, "Many people") {
		t.Errorf(
			"while it is measured: status %d, want status = %d, page with %q and %q, page without %q", status,
			http.StatusOK, "50% done", "21.30", "Many people",
		)
	}
	if status, say := get("/why.json?heads=1"); status != http.StatusServiceUnavailable ||
		!strings.Contains(say, "50% done") {
		t.Errorf(
			"a program: status %d, %q; want %d and a message with %q", status, say, http.StatusServiceUnavailable,
			"50% done",
		)
	}
	close(rest)
	if _, err := s.finder.result.Get(t.Context(), "", nil); err != nil { // wait for the end
		t.Fatal(err)
	}
	if status, page := get("/why?heads=1"); status != http.StatusOK || !strings.Contains(page, "Measured on 6 rows") {
		t.Errorf(
			"once it is measured: status %d, want status = %d, page with %q", status, http.StatusOK,
			"Measured on 6 rows",
		)
	}
	if begun != 1 {
		t.Errorf("the heads were measured %d times, want 1", begun)
	}
}

// TestFailedHeadMeasurementIsNotRepeated: a measurement that fails, or takes too long, is
// not repeated for the next visitor, and the page explains why there are no heads.
func TestFailedHeadMeasurementIsNotRepeated(t *testing.T) {
	for want, fails := range map[string]measure{
		"can't be measured: too short": func(context.Context, *infer.Model, func(float64)) (*why.Findings, error) {
			return nil, errors.New("too short")
		},
		"can't be measured": func(context.Context, *infer.Model, func(float64)) (*why.Findings, error) {
			panic("a fault")
		},
		"more than 5 minutes": func(ctx context.Context, _ *infer.Model, _ func(float64)) (*why.Findings, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			var begun int
			f := finder{wait: findWait, measure: func(
				ctx context.Context, m *infer.Model, done func(float64),
			) (*why.Findings, error) {
				begun++
				return fails(ctx, m, done)
			}}
			log := slog.New(slog.DiscardHandler)
			_, err := f.find(t.Context(), nil, log)
			if errors.Is(err, errMeasuring) {
				fixture.Pass(findTime)
				_, err = f.find(t.Context(), nil, log)
			}
			if _, again := f.find(t.Context(), nil, log); again != err || begun != 1 {
				t.Errorf("measured %d times; first error %v, then %v; want once, and %v", begun, err, again, err)
			}
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got error %v, want %q", err, want)
			}
			var v view
			v.lacks(stage.English, answer{heads: err})
			var page bytes.Buffer
			if err := headsHTML(v).Render(t.Context(), &page); err != nil {
				t.Fatal(err)
			}
			d, err := goquery.NewDocumentFromReader(&page)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(d.Text(), want) || d.Find("button").Length() > 0 {
				t.Errorf("the page says %s, want it to contain %q, and no button", d.Text(), want)
			}
		})
	}
}
