// Package fault confines a panic to the part of the program in which it happened: a run, a
// room, a lab, a connection, a request. That part ends or restarts with an error; the
// others are unaffected.
//
// A panic is a bug in the program. It is logged with its stack. Its value is logged only if it
// comes from the Go runtime, since any other value might contain text typed by a user.
package fault

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"
)

// Fault is the error that represents a panic. Its message is for users and does not reveal the
// cause.
type Fault struct {
	cause string
	stack string
}

func (f *Fault) Error() string { return "an internal error occurred and was logged" }

// Cause returns a description of the panic's value that is safe to log. Stack returns the stack of
// the panic.
func (f *Fault) Cause() string { return f.cause }
func (f *Fault) Stack() string { return f.stack }

// Try runs f and returns its error, or a *Fault if f panics.
func Try(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = Of(v)
		}
	}()
	return f()
}

// Do is like [Try], but also logs a panic with [Log]. `what` is the context to log.
func Do(log *slog.Logger, what string, f func() error) error {
	err := Try(f)
	Log(log, what, err)
	return err
}

// Of converts a recovered value to a fault. It must be called by the deferred function that
// recovers the value, since only then does the stack still show the location of the panic.
func Of(v any) *Fault {
	f := &Fault{cause: fmt.Sprintf("%T", v), stack: string(debug.Stack())}
	if cause, ok := v.(runtime.Error); ok {
		f.cause = cause.Error()
	}
	if first, ok := v.(*Fault); ok { // already converted in another goroutine
		f.cause, f.stack = first.cause, first.stack+"\nre-panicked in\n"+f.stack
	}
	return f
}

// Log logs err if it is a fault. `what` names the part of the program in which it happened, and
// `more` holds additional attributes.
func Log(log *slog.Logger, what string, err error, more ...any) {
	var f *Fault
	if errors.As(err, &f) {
		log.Error("panic in "+what, append(more, "err", f.cause, "stack", f.stack)...)
	}
}
