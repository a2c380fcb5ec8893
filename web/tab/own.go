package tab

import (
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/checkpoint"
	"github.com/tokenbytoken/viz/infer/terms"
)

// ownLimit is the maximum memory for the weights of a visitor's own model. It is half of the memory
// that WebAssembly can address, because a matrix needs space for two copies while it is read.
const ownLimit = 2 << 30

// A refusal explains to users why a model was not opened. It states the problem and, if there are
// several reasons, lists all of them.
type refusal struct {
	say terms.Phrase
	why []string // in English
}

func (r *refusal) Error() string { return r.say.String() }

// OpenOwn opens a visitor's own model under the given name, as a server does. If the weights fit
// into limit bytes, they are unchanged. Otherwise, they are rounded to 8 bits. The folder can
// contain other files, too. Errors explain to users why the model was refused.
func OpenOwn(files Files, name string, limit int64) (*infer.Model, string, error) {
	if len(files) == 0 {
		return nil, "", &refusal{say: terms.PhraseOf("tab.refused.empty")}
	}
	if files.Bytes() > limit/mostPerByte { // refuse a large file before computing its hash, which would be slow
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
		return quant, &refusal{say: terms.PhraseOf(
			"tab.refused.large", "weights", terms.Count(c.Parameters()), "need", bytesText(need),
			"limit", bytesText(limit),
		)}
	}
	return quant, nil
}

// bytesText returns a number of bytes as a value for a phrase.
func bytesText(n int64) func(*terms.Language) string {
	return func(l *terms.Language) string { return l.Bytes(n) }
}

// unread returns the same files without their hashes, because all of the files would have to be
// read to compute the hashes.
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
	r := &refusal{say: terms.PhraseOf("tab.refused"), why: checkpoint.Reasons(err)}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		r.say = terms.PhraseOf("tab.refused.missing")
	case errors.Is(err, io.ErrUnexpectedEOF):
		r.say = terms.PhraseOf("tab.refused.short")
	}
	return r
}
