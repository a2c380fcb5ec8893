package infer

import (
	"sync"
	"testing"

	"github.com/tokenbytoken/viz/infer/bundled"
	"github.com/tokenbytoken/viz/infer/checkpoint/smallmodel"
)

var loadTarget = sync.OnceValues(func() (*Model, error) {
	c, err := bundled.Target()
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return Load(c)
})

// bundledModel returns the model in the binary, loaded once for all tests.
func bundledModel(tb testing.TB) *Model {
	tb.Helper()
	m, err := loadTarget()
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// A folder describes a small model folder, which is created in memory.
type folder struct{ smallmodel.Folder }

const (
	endID      = smallmodel.EndID
	firstExtra = smallmodel.FirstExtra
)

// load writes the folder with the given weights and loads it.
func (f folder) load(w smallmodel.Weights) (*Model, error) {
	c, err := f.Open(w)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return Load(c)
}

// model is like load, but ends the test on an error.
func (f folder) model(tb testing.TB, w smallmodel.Weights) *Model {
	tb.Helper()
	m, err := f.load(w)
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

var smallFolder = folder{smallmodel.Small}

var loadSmall = sync.OnceValues(func() (*Model, error) { return smallFolder.load(smallFolder.Random(7)) })

// smallModel returns a model with random weights: its text is noise, but every mechanism works, and
// a step takes microseconds.
func smallModel(tb testing.TB) *Model {
	tb.Helper()
	m, err := loadSmall()
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// bigram returns a model whose logits depend only on the last token: see [smallmodel.Bigram].
func bigram(tb testing.TB, extra []string, next map[int]map[int]float32) *Model {
	tb.Helper()
	f, w := smallmodel.Bigram(extra, next)
	return folder{f}.model(tb, w)
}

// chain returns a bigram model that is certain of every next token: each of ids is followed by the
// next one, and the last by the end of the text.
func chain(tb testing.TB, extra []string, ids ...int) *Model {
	tb.Helper()
	next := map[int]map[int]float32{}
	for i, id := range ids {
		to := endID
		if i+1 < len(ids) {
			to = ids[i+1]
		}
		if next[id] != nil {
			tb.Fatalf("token %d is in the chain twice", id)
		}
		next[id] = map[int]float32{to: 10}
	}
	return bigram(tb, extra, next)
}
