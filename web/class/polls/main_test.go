package polls

import (
	"os"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
)

func TestMain(m *testing.M) { os.Exit(fixture.Run(m)) }
