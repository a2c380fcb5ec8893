// Package fault keeps a panic within the part of the program in which it happened: a
// run, a room, a lab, a connection, a request. That part ends or starts again with an
// error; the others do not notice.
//
// A panic is a mistake in the program. It is logged with the stack, which says where
// it is, and without its value unless that is the Go runtime's own, since any other
// may quote what somebody typed.
package fault

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"
)

// Fault is a panic as an error. Its text is for people and says nothing of the cause.
type Fault struct {
	cause string
	stack string
}

func (f *Fault) Error() string { return "something failed inside the program, and was logged" }

// Cause is what is logged of the value, Stack where the panic happened.
func (f *Fault) Cause() string { return f.cause }
func (f *Fault) Stack() string { return f.stack }

// Try runs f. The error is f's own, or a *Fault if it panics.
func Try(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = Of(v)
		}
	}()
	return f()
}

// Do is [Try], and logs a panic in what.
func Do(log *slog.Logger, what string, f func() error) error {
	err := Try(f)
	Log(log, what, err)
	return err
}

// Of makes a fault of a value that was recovered. It is called by the deferred
// function that has recovered it, since the stack still shows where the panic was.
func Of(v any) *Fault {
	f := &Fault{cause: fmt.Sprintf("%T", v), stack: string(debug.Stack())}
	if cause, ok := v.(runtime.Error); ok {
		f.cause = cause.Error()
	}
	if first, ok := v.(*Fault); ok { // passed on from another goroutine
		f.cause, f.stack = first.cause, first.stack+"\npassed on to\n"+f.stack
	}
	return f
}

// Log logs err if it is a fault, with what it happened in and further attributes.
func Log(log *slog.Logger, what string, err error, more ...any) {
	var f *Fault
	if errors.As(err, &f) {
		log.Error("panic in "+what, append(more, "err", f.cause, "stack", f.stack)...)
	}
}
