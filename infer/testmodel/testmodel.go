// Package testmodel loads the models that tests share, once for each test binary. Only tests import
// it. (The tests in package infer cannot, since testmodel imports infer.)
package testmodel

import (
	"sync"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/bundled"
	"github.com/tokenbytoken/viz/infer/checkpoint"
	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/infer/pool"
)

func load(open func() (*checkpoint.Checkpoint, error)) func() (*infer.Model, error) {
	return sync.OnceValues(func() (*infer.Model, error) {
		c, err := open()
		if err != nil {
			return nil, err
		}
		return infer.Load(c)
	})
}

func init() { fixture.Tokens = infer.PositionsRead }

var target, draft = load(bundled.Target), load(bundled.Draft)

// Target returns the bundled pair's target model. A test that modifies the model should load its
// own copy instead.
func Target(t testing.TB) *infer.Model {
	t.Helper()
	return must(t, target)
}

// Draft returns the bundled pair's draft model.
func Draft(t testing.TB) *infer.Model {
	t.Helper()
	return must(t, draft)
}

// Slots returns a function that acquires slots in a pool, as pages do. The pool is closed when the
// test ends.
func Slots(t testing.TB, m *infer.Model) func() (*pool.Slot, error) {
	shared := pool.New(m, 0)
	t.Cleanup(shared.Close)
	return func() (*pool.Slot, error) { return shared.Slot(), nil }
}

func must(t testing.TB, load func() (*infer.Model, error)) *infer.Model {
	t.Helper()
	m, err := load()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Load is like [Target], for code without a [testing.T], such as a TestMain.
func Load() (*infer.Model, error) { return target() }
