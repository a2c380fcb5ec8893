package store

import (
	"bytes"
	"encoding/binary"
	"path/filepath"
	"testing"
)

// TestRecordsAroundDamageAreRead: without a copy, only the records in the damaged pages are lost,
// no matter whether one or two pages are damaged.
func TestRecordsAroundDamageAreRead(t *testing.T) {
	x := newTokens(t)
	var leaves []int // pages that contain records, counted from 0
	for page := range len(x.file) / pageBytes {
		data := x.file[page*pageBytes:][:pageBytes]
		if data[0] == 10 && bytes.Contains(data, []byte("<token")) { // https://sqlite.org/fileformat2.html#b_tree_pages
			leaves = append(leaves, page)
		}
	}
	n := len(leaves)
	if n < 9 {
		t.Fatalf("the records are in %d pages, too few for this test", n)
	}
	for _, pages := range [][]int{{leaves[0]}, {leaves[n/2]}, {leaves[n-1]}, {leaves[1], leaves[n-2]}} {
		file, want := bytes.Clone(x.file), len(x.records)
		for _, page := range pages {
			data := file[page*pageBytes:][:pageBytes]
			want -= int(binary.BigEndian.Uint16(data[3:])) // number of rows in the page
			clear(data)
		}
		dir := t.TempDir()
		replace(t, filepath.Join(dir, fileName), file)
		db, _ := logged(t, dir)
		var got int
		if err := db.read.QueryRow("SELECT count(*) FROM records").Scan(&got); err != nil || got != want {
			t.Errorf("with the damaged pages %v: got %d records, %v; want %d, <nil>", pages, got, err, want)
		}
	}
}
