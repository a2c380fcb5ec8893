package lessons

import (
	"os"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/fixture"
)

func TestMain(m *testing.M) {
	fixture.Tokens = infer.PositionsRead
	os.Exit(fixture.Run(m))
}
