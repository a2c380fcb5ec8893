// Package bundled embeds the pair of models that comes with the program, so the program works
// without a download.
//
// The folders target and draft are ordinary Hugging Face model folders, embedded unchanged: two
// Llamas with grouped-query attention and a shared vocabulary of 4,096 tokens. The target generates
// the texts. The draft, which is several times cheaper per token, proposes tokens to the target
// (speculative decoding). Both stay in the binary's read-only pages; only weights that the engine
// widens use additional memory.
package bundled

import (
	"embed"
	"fmt"
	"io/fs"

	"github.com/tokenbytoken/viz/infer/checkpoint"
)

//go:embed target draft
var folders embed.FS

// Target opens the bundled model. Its name includes its size: "tiny-5M" for five million
// parameters. Target fails only if the folder was damaged before the program was built.
func Target() (*checkpoint.Checkpoint, error) {
	c, err := open("target")
	if err == nil {
		c.Config.Name = fmt.Sprintf("tiny-%dM", (c.Parameters()+500_000)/1_000_000)
	}
	return c, err
}

// Draft opens the small model that drafts for [Target]. Both have the same tokenizer. The draft's
// name includes its size in thousands of parameters: "draft-820K". Draft fails under the same
// condition as Target.
func Draft() (*checkpoint.Checkpoint, error) {
	c, err := open("draft")
	if err == nil {
		c.Config.Name = fmt.Sprintf("draft-%dK", (c.Parameters()+500)/1_000)
	}
	return c, err
}

// TargetFiles returns the model folder of [Target], so that it can be copied elsewhere.
func TargetFiles() (fs.FS, error) { return fs.Sub(folders, "target") }

// DraftFiles returns the model folder of [Draft].
func DraftFiles() (fs.FS, error) { return fs.Sub(folders, "draft") }

func open(name string) (*checkpoint.Checkpoint, error) {
	folder, err := fs.Sub(folders, name)
	if err != nil {
		return nil, fmt.Errorf("bundled %s: %w", name, err)
	}
	c, err := checkpoint.Open(folder, "")
	if err != nil {
		return nil, fmt.Errorf("bundled %s: %w", name, err)
	}
	return c, nil
}
