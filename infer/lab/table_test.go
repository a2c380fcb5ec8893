package lab

import (
	"strings"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer/terms"
)

func TestTableCSV(t *testing.T) {
	table := Table{Name: "steps", Columns: columns("step", "", "time", "ms", "token", "", "same", "", "n", "")}
	table.add(1, 0.1, " a,\"b\"", true, int64(1<<53))
	table.add(2, 0.12345678901234568, "=1+1", false, 0)
	table.add(3, nil, "", false, 0)
	var b strings.Builder
	if err := table.WriteCSV(&b, terms.SheetFile, terms.English); err != nil {
		t.Fatal(err)
	}
	want := "\ufeffstep,time (ms),token,same,n\r\n" +
		"1,0.1,\" a,\"\"b\"\"\",true,9007199254740992\r\n" +
		"2,0.12345678901234568,'=1+1,false,0\r\n" + // with every digit needed to parse the same value again
		"3,,,false,0\r\n"
	if b.String() != want {
		t.Errorf("%q\nwant %q", b.String(), want)
	}
	defer func() {
		if recover() == nil {
			t.Error("a row that is too short was accepted")
		}
	}()
	table.add(1)
}

// TestTablesAreWellFormed: every table of a lab has a unique name and rows with one cell per
// column, and CSV and JSON can represent every cell.
func TestTablesAreWellFormed(t *testing.T) {
	for _, l := range All() {
		name := l.Info(terms.English).Name
		_, r := result[any](t, name, small[name])
		seen := map[string]bool{}
		for _, table := range r.Tables {
			if seen[table.Name] || table.Title.IsZero() {
				t.Errorf(
					"%s: table %q, %q; want seen[table.Name] = false, table.Title not empty", name, table.Name,
					table.Title,
				)
			}
			seen[table.Name] = true
			for _, row := range table.Rows {
				if len(row) != len(table.Columns) {
					t.Errorf(
						"%s, %s: got %d cells, want %d, one per column", name, table.Name, len(row),
						len(table.Columns),
					)
				}
				for i, cell := range row {
					switch cell.(type) {
					case nil, string, Phrase, bool, int, int64, float64:
					default:
						t.Errorf(
							"%s, %s: got a %T in column %s, want a type that CSV and JSON can represent", name,
							table.Name, cell, table.Columns[i].Name,
						)
					}
				}
			}
			if got, ok := r.Table(table.Name); !ok || len(got.Rows) != len(table.Rows) {
				t.Errorf("%s: no table %s", name, table.Name)
			}
		}
		asJSON(t, r)
	}
}

func TestSpreadQuartiles(t *testing.T) {
	// The quartiles of 1, 2, 4, 10 are 0.75 of the way from 1 to 2, halfway from 2 to 4, and a
	// quarter of the way from 4 to 10.
	got := spreadOf([]float64{10, 1, 4, 2})
	if want := (Spread{N: 4, Median: 3, Q1: 1.75, Q3: 5.5, Min: 1, Max: 10}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := spreadOfTimes([]time.Duration{1500 * time.Microsecond}); got.Median != 1.5 || got.Q1 != 1.5 ||
		got.N != 1 {
		t.Errorf("one time: got %+v, want Median = 1.5, Q1 = 1.5, N = 1", got)
	}
	if got := spreadOf(nil); got != (Spread{}) {
		t.Errorf("nothing: got %+v, want %+v", got, Spread{})
	}
	if text := noise([]Spread{{N: 1, Median: 2}}).String(); !strings.Contains(text, "once") {
		t.Errorf("one repeat: got %q, want it to contain %q", text, "once")
	}
	// Widths: (5.5 − 1.75) / 3 = 125%.
	if text := noise([]Spread{{N: 4, Median: 3, Q1: 1.75, Q3: 5.5}}).String(); !strings.Contains(text, "125%") {
		t.Errorf("noise: got %q, want it to contain %q", text, "125%")
	}
}
