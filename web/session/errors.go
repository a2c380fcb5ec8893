package session

import (
	"context"
	"errors"

	"github.com/tokenbytoken/viz/infer/terms"
)

// The codes of refusals that only runs use, in addition to the codes of [terms.Code]. A refused
// command does not change the run.
const (
	CodeOrder   terms.Code = "order"   // the run's state does not allow the command
	CodeStopped terms.Code = "stopped" // a stop condition has fired
	CodeLink    terms.Code = "link"    // the link cannot be opened
	CodeOther   terms.Code = "other"   // the link was made with another model
)

// typed converts an error from the engine to a [*terms.Refusal]. It returns a context's error
// unchanged.
func typed(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return terms.RefusalOf(err)
}
