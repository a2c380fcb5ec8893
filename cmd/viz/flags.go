package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// flags holds a command's flags. Each flag has an environment variable, such as VIZ_TOP_K for
// -top-k, which applies if the flag is not given. An empty variable counts as unset.
type flags struct {
	set    *flag.FlagSet
	usage  string  // first lines of the help
	path   *string // receives the only positional argument; nil if none is allowed
	listed []listed
	origin map[string]string // by flag name: "-top-k" or "VIZ_TOP_K", whichever set it
	texts  []text            // given flags and variables, in order
}

// text is a flag's name and its value as given on the command line or in the environment.
type text struct{ name, value string }

// listed is a flag in the help.
type listed struct{ name, arg, help string }

func newFlags(usage string) *flags {
	f := &flags{set: flag.NewFlagSet("viz", flag.ContinueOnError), usage: usage, origin: map[string]string{}}
	f.set.SetOutput(io.Discard) // report prints errors, and flags.help prints the help
	return f
}

// value defines a flag with an argument. set is called with the argument for each use of the flag;
// its error should state the allowed values.
func (f *flags) value(name, arg, help string, set func(string) error) {
	f.listed = append(f.listed, listed{name, arg, help})
	f.set.Func(name, help, f.noting(name, set))
}

// noting returns a function that records the flag's argument and then calls set.
func (f *flags) noting(name string, set func(string) error) func(string) error {
	return func(s string) error {
		f.texts = append(f.texts, text{name, s})
		return set(s)
	}
}

// text defines a flag whose argument may be any string.
func (f *flags) text(name, arg, help string, to *string) {
	f.value(name, arg, help, func(s string) error {
		*to = s
		return nil
	})
}

// toggle defines a boolean flag.
func (f *flags) toggle(name, help string, to *bool) {
	f.listed = append(f.listed, listed{name, "", help})
	f.set.BoolFunc(name, help, f.noting(name, func(s string) error {
		on, err := strconv.ParseBool(s)
		if err != nil {
			return errors.New("must be true or false")
		}
		*to = on
		return nil
	}))
}

func variable(name string) string {
	return "VIZ_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// parse parses a command line, and the environment variables of flags that are not on the command
// line. If help was requested, it prints the help and returns [flag.ErrHelp]. Any other error is a
// usageError.
func (f *flags) parse(args []string, env func(string) string, stdout io.Writer) error {
	if err := f.set.Parse(args); errors.Is(err, flag.ErrHelp) {
		return f.help(stdout)
	} else if err != nil {
		return usageError{err}
	}
	if f.path != nil && f.set.NArg() > 0 { // flags may follow the path, too
		*f.path = f.set.Arg(0)
		if err := f.set.Parse(f.set.Args()[1:]); errors.Is(err, flag.ErrHelp) {
			return f.help(stdout)
		} else if err != nil {
			return usageError{err}
		}
		if f.set.NArg() > 0 {
			return usageError{fmt.Errorf("unexpected argument %q: only one path is allowed", f.set.Arg(0))}
		}
	}
	if f.set.NArg() > 0 {
		return usageError{fmt.Errorf("unexpected argument %q: only flags are allowed", f.set.Arg(0))}
	}
	f.set.Visit(func(x *flag.Flag) { f.origin[x.Name] = "-" + x.Name })
	for _, x := range f.listed {
		v := variable(x.name)
		text := env(v)
		if _, given := f.origin[x.name]; given || text == "" {
			continue
		}
		f.origin[x.name] = v
		if err := f.set.Set(x.name, text); err != nil {
			return usageError{
				fmt.Errorf("invalid value %q for %s, the environment variable of -%s: %w", text, v, x.name, err),
			}
		}
	}
	return nil
}

// given reports whether a flag or its variable was set.
func (f *flags) given(name string) bool {
	_, ok := f.origin[name]
	return ok
}

// called returns the name by which messages refer to a flag: the flag or the variable that was
// used.
func (f *flags) called(name string) string {
	if o, ok := f.origin[name]; ok {
		return o
	}
	return "-" + name
}

// helpColumn is the column of the flags' descriptions in the help.
const helpColumn = 21

// helpEntry writes help next to head, or below it if head is too long.
func helpEntry(b *strings.Builder, head, help string) {
	if len(head) > helpColumn-3 {
		fmt.Fprintf(b, "  %s\n", head)
		head = ""
	}
	for _, line := range wrap(strings.Fields(help), 80-helpColumn) {
		fmt.Fprintf(b, "  %-*s%s\n", helpColumn-2, head, line)
		head = ""
	}
}

// help prints the help and returns [flag.ErrHelp].
func (f *flags) help(w io.Writer) error {
	var b strings.Builder
	b.WriteString(f.usage)
	b.WriteString("\nFlags, which can also be set as environment variables (VIZ_TOP_K for -top-k):\n")
	for _, x := range f.listed {
		helpEntry(&b, strings.TrimRight("-"+x.name+" "+x.arg, " "), x.help)
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	return flag.ErrHelp
}
