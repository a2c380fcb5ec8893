package session

import (
	"context"
	"errors"

	"github.com/tokenbytoken/viz/infer/terms"
)

// The codes that only a run refuses a command with, besides those of
// [terms.Code]. The run is then as it was before the command.
const (
	CodeOrder   terms.Code = "order"   // the command does not fit the state of the run
	CodeStopped terms.Code = "stopped" // a stop condition has fired
	CodeLink    terms.Code = "link"    // a link that cannot be opened
	CodeOther   terms.Code = "other"   // a link made with another model
)

// typed makes a [*terms.Refusal] of what the engine reports; a context that
// ended is passed on as it is.
func typed(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return terms.RefusalOf(err)
}
