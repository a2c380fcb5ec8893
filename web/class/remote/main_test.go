package remote

import (
	"flag"
	"testing"

	"go.uber.org/goleak"

	"github.com/tokenbytoken/viz/infer/fixture"
)

// TestMain allows many parallel tests, because the tests mostly wait for servers.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(fixture.Suite{M: m})
}
