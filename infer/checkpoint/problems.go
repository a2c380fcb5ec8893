package checkpoint

import (
	"errors"
	"fmt"
)

// problems lists a model's problems in the order in which they were found. The error's message is
// the first problem's message; [Reasons] returns all problems.
type problems []error

// maxProblems is the maximum number of problems to keep. A damaged file may have a problem in each
// of its tensors.
const maxProblems = 64

func (p problems) Error() string   { return p[0].Error() }
func (p problems) Unwrap() []error { return p }

// collect joins errors, each of which may be nil or a list of problems.
func collect(errs ...error) error {
	var all problems
	for _, err := range errs {
		var several problems
		switch {
		case err == nil:
		case errors.As(err, &several):
			all = append(all, several...)
		default:
			all = append(all, err)
		}
	}
	if all == nil {
		return nil
	}
	return all[:min(len(all), maxProblems)]
}

// within prefixes each error in err with the name of its file.
func within(place string, err error) error {
	var several problems
	if !errors.As(err, &several) {
		several = problems{err}
	}
	located := make(problems, len(several))
	for i, err := range several {
		located[i] = fmt.Errorf("%s: %w", place, err)
	}
	return located
}

// Reasons lists the problems in an error from this package, at most 64, starting with the error's
// own message.
func Reasons(err error) []string {
	if err == nil {
		return nil
	}
	var several problems
	if !errors.As(err, &several) {
		several = problems{err}
	}
	reasons := make([]string, len(several))
	for i, err := range several {
		reasons[i] = err.Error()
	}
	return reasons
}
