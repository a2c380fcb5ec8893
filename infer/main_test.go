package infer

import (
	"os"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
)

func TestMain(m *testing.M) {
	fixture.Tokens = PositionsRead
	os.Exit(fixture.Run(m))
}
