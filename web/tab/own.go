package tab

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/checkpoint"
	"github.com/tokenbytoken/viz/infer/terms"
)

// ownLimit is the maximum memory for the weights of a visitor's own model: half of the memory that
// WebAssembly can address, because there are two copies of a matrix while it is read.
const ownLimit = 2 << 30

// unnamed is the name shown for a model whose files were chosen one by one, without a folder to
// name it after.
const unnamed = "your model"

// A refusal explains to users why a model was not opened: the problem and, if there are several
// reasons, all of them.
type refusal struct {
	say string
	why []string
}

func (r *refusal) Error() string { return r.say }

// OpenOwn opens a visitor's own model as a server does. The weights are unchanged if they fit into
// limit bytes, and otherwise rounded to 8 bits. The folder can contain other files, too. Errors are
// refusals for users.
func OpenOwn(files Files, folder string, limit int64) (*infer.Model, string, error) {
	name := folder
	if name == "" {
		name = unnamed
	}
	if len(files) == 0 {
		return nil, "", &refusal{say: "This folder has no files."}
	}
	if files.Bytes() > limit/mostPerByte { // refuse before computing the hash, which is slow for a large file
		c, err := checkpoint.OpenAny(files.unread(), name)
		if err != nil {
			return nil, "", refuse(err)
		}
		_, err = quantFor(c, limit)
		c.Close()
		if err != nil {
			return nil, "", err
		}
	}
	c, err := checkpoint.OpenAny(files, name)
	if err != nil {
		return nil, "", refuse(err)
	}
	defer c.Close()
	quant, err := quantFor(c, limit)
	if err != nil {
		return nil, "", err
	}
	m, err := infer.LoadQuantized(c, quant)
	if err != nil {
		return nil, "", refuse(err)
	}
	return m, c.Format, nil
}

// mostPerByte is an upper bound on the number of weights per byte of a file.
const mostPerByte = 8

// quantFor returns a format in which the model's weights fit into limit bytes, or a refusal.
func quantFor(c *checkpoint.Checkpoint, limit int64) (infer.Quant, error) {
	quant := infer.QuantNone
	if infer.WeightMemory(c, quant) > limit {
		quant = infer.QuantInt8
	}
	if need := infer.WeightMemory(c, quant); need > limit {
		return quant, &refusal{say: fmt.Sprintf(
			"This model is too large for a browser: its %s weights take %s even if they are rounded to 8 bits, and a "+
				"page here gets %s.", terms.Count(c.Parameters()), terms.Bytes(need), terms.Bytes(limit),
		)}
	}
	return quant, nil
}

// unread returns the same files without their hashes, because computing the hashes would read all
// of the files.
func (f Files) unread() Files {
	all := Files{}
	for name, from := range f {
		all[name] = unread{from}
	}
	return all
}

type unread struct{ Source }

// SHA256 implements [checkpoint.Summed].
func (unread) SHA256() ([]byte, error) { return make([]byte, sha256.Size), nil }

// refuse converts an error from the model reader to a refusal.
func refuse(err error) error {
	r := &refusal{say: "This model can’t be opened.", why: checkpoint.Reasons(err)}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		r.say = "Some of the model’s files are missing. Open all of them together, or their folder."
	case errors.Is(err, io.ErrUnexpectedEOF):
		r.say = "This model can’t be opened: a file ends too early, or changed while it was read."
	}
	return r
}
