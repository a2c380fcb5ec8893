// Package bundled carries the model that comes with the program, so that the
// first number appears without a download.
//
// The folder target is an ordinary Hugging Face model folder, embedded as it
// stands: a Llama of six layers with grouped-query attention and a vocabulary
// of 4,096 tokens. It stays in the binary's read-only pages; only the weights
// that the engine widens take memory.
package bundled

import (
	"embed"
	"fmt"
	"io/fs"

	"github.com/tokenbytoken/viz/infer/checkpoint"
)

//go:embed target
var folders embed.FS

// Target opens the bundled model. Its name tells its size: "tiny-3M" for three
// million parameters. The error is not nil only if the folder was damaged
// before the program was built.
func Target() (*checkpoint.Checkpoint, error) {
	folder, err := fs.Sub(folders, "target")
	if err != nil {
		return nil, fmt.Errorf("bundled target: %w", err)
	}
	c, err := checkpoint.Open(folder, "")
	if err != nil {
		return nil, fmt.Errorf("bundled target: %w", err)
	}
	c.Config.Name = fmt.Sprintf("tiny-%dM", (c.Parameters()+500_000)/1_000_000)
	return c, nil
}
