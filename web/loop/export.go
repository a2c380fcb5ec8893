package loop

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/plots"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/stage"
)

// export is a file format in which a run can be saved.
type export struct {
	ending string
	kind   string                      // content type
	lacks  func(*session.State) string // returns the key of the text that names what is missing, or ""
	write  func(context.Context, io.Writer, *session.State) error
}

// exports maps the last part of an address to its format.
var exports = map[string]export{
	"text":  {".txt", "text/plain; charset=utf-8", lacksNothing, writeText},
	"trace": {".jsonl", "application/jsonl; charset=utf-8", lacksNothing, writeTrace},
	"chart": {".svg", "image/svg+xml", lacksTurn, writeChart},
	"table": {".csv", terms.SheetType, lacksScores, writeTable(terms.SheetFile)},

	"table-comma": {"-decimal-comma.csv", terms.SheetType, lacksScores, writeTable(terms.SheetComma)},
}

// exportLinks lists the exports in their order in the menu, each with the key of its name.
var exportLinks = []struct{ name, key string }{
	{"text", "loop.share.text"},
	{"trace", "loop.share.trace"},
	{"chart", "loop.share.chart"},
	{"table", "loop.share.table"},
	{"table-comma", "loop.share.table.comma"},
}

// export handles GET /export/NAME?run=ID or ?log=LINK. It sends a file.
func (s *Server) export(w http.ResponseWriter, r *http.Request) {
	say := stage.In(r.Context())
	e, ok := exports[r.PathValue("name")]
	if !ok {
		shell.Text(w, http.StatusNotFound, say.T("loop.export.unknown"))
		return
	}
	who, _ := s.Caller(r)
	st, bad := s.stateOf(r.Context(), who, addressOf(r))
	if bad != nil {
		shell.Text(w, bad.status, bad.head+" "+bad.say)
		return
	}
	lacks := e.lacks(st)
	if !st.Started() {
		lacks = "run.text.none"
	}
	if lacks != "" {
		shell.Text(w, http.StatusConflict, say.T(lacks))
		return
	}
	b := &bytes.Buffer{}
	if r.Method != http.MethodHead {
		var err error
		if b, err = s.fileOf(r.Context(), who, e, st); err != nil {
			busy := errors.Is(err, context.DeadlineExceeded) || errors.Is(err, admission.ErrQueueFull)
			if !busy && r.Context().Err() == nil {
				s.Log.Error("export failed", "what", e.ending, "err", err)
			}
			shell.Text(w, http.StatusServiceUnavailable, say.T("loop.export.late"))
			return
		}
	}
	h := w.Header()
	h.Set("Content-Type", e.kind)
	h.Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", fileName(st)+e.ending))
	h.Set("Cache-Control", "no-store")
	b.WriteTo(w)
}

// fileOf waits for the slot and writes a file into a buffer. It releases the slot before the file
// is sent, so that a slow reader does not delay other clients.
func (s *Server) fileOf(ctx context.Context, who admission.Caller, e export, st *session.State) (*bytes.Buffer, error) {
	ctx, release, err := s.acquire(ctx, who, len(st.Steps))
	if err != nil {
		return nil, err
	}
	defer release()
	var b bytes.Buffer
	return &b, e.write(ctx, &b, st)
}

// fileName returns the first words of the prompt, in letters that every file system accepts, and
// the seed: "once-upon-a-time-seed-42".
func fileName(st *session.State) string {
	const most = 40
	var b strings.Builder
	for _, r := range strings.ToLower(st.Prompt) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		if b.Len() >= most {
			break
		}
	}
	return fmt.Sprintf("%s-seed-%d", cmp.Or(strings.Trim(b.String(), "-"), "text"), st.Settings.Seed)
}

func lacksNothing(*session.State) string { return "" }

func lacksTurn(st *session.State) string {
	if len(costPoints(st.Steps)) == 0 {
		return "loop.export.chart.none"
	}
	return ""
}

func lacksScores(st *session.State) string {
	if st.Cursor.Stage < infer.KindLogits {
		return "loop.export.table.none"
	}
	return ""
}

// writeText writes the prompt and the generated text.
func writeText(_ context.Context, w io.Writer, st *session.State) error {
	text := st.Prompt
	for _, step := range st.Steps {
		text += step.Text
	}
	_, err := io.WriteString(w, text)
	return err
}

// writeTrace writes the run in the format of `viz trace -json`.
func writeTrace(ctx context.Context, w io.Writer, st *session.State) error {
	enc := json.NewEncoder(w)
	if err := enc.Encode(
		infer.Prompt{Model: st.Model, Tokens: st.PromptTokens, Settings: st.Steps[0].Settings},
	); err != nil {
		return err
	}
	for _, step := range st.Steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		d := step.Distribution()
		for _, k := range infer.Kinds[:step.Ran] {
			if err := enc.Encode(st.Model.Stage(step, k, d, infer.DefaultRows)); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeChart writes a chart of the work so far.
func writeChart(ctx context.Context, w io.Writer, st *session.State) error {
	c, err := plots.CumulativeCost(terms.In(ctx), costPoints(st.Steps))
	if err != nil {
		return err
	}
	svg, err := plots.Standalone(c.SVG)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, svg)
	return err
}

// writeTable writes the whole vocabulary at the step shown, with the most probable tokens first.
// The columns of stages after the one shown are empty.
func writeTable(form terms.SheetForm) func(context.Context, io.Writer, *session.State) error {
	return func(_ context.Context, w io.Writer, st *session.State) error {
		return tableRows(terms.NewSheet(w, form), st)
	}
}

// tableRows writes the rows, one per line. Line breaks in tokens are escaped.
func tableRows(c *terms.Sheet, st *session.State) error {
	head := []any{"rank", "id", "text", "z", "p", "cum", "kept", "cut_by", "q"}
	d, raw := st.DistAt(st.Cursor.Step), st.Step().Logits
	rescored := d.Settings.Scoring() != sampling.Pure
	if rescored {
		head = append(head, "z_raw")
	}
	c.Row(head...)
	for r, id := range d.Order {
		text := terms.Printable(st.Model.Token(int(id)).Text)
		row := []any{r + 1, id, text, d.Score(int(id)), nil, nil, nil, nil, nil}
		if st.Cursor.Stage >= infer.KindSoftmax {
			row[4], row[5] = d.P[id], d.Cum[r]
		}
		if st.Cursor.Stage >= infer.KindFilter {
			row[6], row[7], row[8] = d.Stays(r), string(d.CutBy(r)), d.Q(r)
		}
		if rescored {
			row = append(row, raw[id])
		}
		c.Row(row...)
	}
	return c.Flush()
}
