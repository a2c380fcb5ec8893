// Command viz shows how a transformer writes text, one stage at a time.
//
//	viz            serve the page and open it in a browser
//	viz serve      the same
//	viz trace      run the loop in the terminal and print every stage
//	viz why        explain a token's score, and the effect of removing parts
//	viz score      measure how well the model predicts a text
//	viz inspect    describe a model, whether or not it can run
//	viz bench      measure how fast a model runs here
//	viz lab        measure what the lessons claim
//	viz lessons    check a folder of your own lessons
//	viz rooms      list class rooms, or close or remove one
//	viz check      check the saved data, and the model
//	viz backup     copy the saved data while the server runs
//	viz data       copy the saved data into or from a cluster
//	viz load       simulate classes with hundreds of phones
//	viz site       write the program as a static site
//	viz notices    print the licenses of third-party software
//	viz version    print the version
//
// Everything shown is computed by the embedded model, or by the model given with -model; nothing
// needs the network. This package connects the parts: flags and their environment variables
// (flags.go), the language of the output (language.go), the model (open.go), starting and stopping
// the server (serve.go), runs without a server as JSON (trace.go) or as text (tracetext.go), the
// parts behind a token (why.go), the surprise of a text (score.go), the description of a model
// (inspect.go), its speed (bench.go), the labs (lab.go), an instructor's own lessons (lessons.go),
// a static site (site.go), simulated classes (load.go), and third-party licenses (notices.go).
//
// For operators, it serves metrics (metrics.go), lists and changes rooms (classes.go, and
// control.go for a running server's rooms), checks data (check.go), makes backups (backup.go), and
// runs servers in clusters (cluster.go, carry.go).
//
// Exit codes: 0 success, 1 failure, 2 usage error, 130 interrupted.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/tokenbytoken/viz/infer/kernel"
	"github.com/tokenbytoken/viz/infer/terms"
)

// Exit codes. The codes for signals are 128 plus the signal's number, as in shells.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 128 + 2
	exitBrokenPipe  = 128 + 13
	exitTerminated  = 128 + 15
)

func main() {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		cancel(interruption{<-signals})
		os.Exit(interruption{<-signals}.code()) // a second signal ends the program immediately
	}()
	os.Exit(run(ctx, os.Args[1:], os.Getenv, os.Stdin, os.Stdout, os.Stderr))
}

// interruption is the signal that ended a context.
type interruption struct{ os.Signal }

func (i interruption) Error() string { return "stopped by signal: " + i.String() }

func (i interruption) code() int {
	if i.Signal == syscall.SIGTERM {
		return exitTerminated
	}
	return exitInterrupted
}

const about = `Token by Token shows how a transformer writes text, one stage at a time.

Usage:
  viz [serve] [flags]   serve the page and open it in a browser
  viz trace [flags]     run in the terminal and print every stage
  viz why [flags]       explain a token's score, and switch off model parts
  viz score FILE        measure how well the model predicts a text
  viz inspect [PATH]    describe a model, and check whether it would run
  viz bench [flags]     measure how fast a model runs on this machine
  viz lab [NAME]        check a lesson's claims by measuring, or list the labs
  viz lessons check DIR check a folder of your own lessons
  viz rooms [flags]     list class rooms, or close or remove one
  viz check [flags]     check the saved data, and the model
  viz backup FILE       copy the saved data, even while a server is running
  viz data into|from    copy the saved data into or from a cluster
  viz load [flags]      simulate classes with hundreds of phones
  viz site [flags]      write the program as a static site that runs in browsers
  viz notices           print the licenses of third-party software
  viz version           print the version (also -version)

"viz serve -h" and "viz trace -h" list the flags. Each flag has an environment
variable, VIZ_ADDR for -addr; the flag takes precedence.
`

// run runs a command line and returns the exit code. Canceling ctx stops it: a server shuts down
// gracefully, and a trace ends after the current turn. All output goes through a [terms.Terminal], in
// the language of ctx, which run takes from the environment.
func run(ctx context.Context, args []string, env func(string) string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx = terms.With(ctx, outputLanguage(terms.Languages(), env))
	out, errs := terms.NewTerminal(stdout), terms.NewTerminal(stderr)
	code := command(ctx, args, env, stdin, out, errs)
	if err := errors.Join(out.Flush(), errs.Flush()); err != nil && code == exitDone {
		return report(ctx, "viz", err, errs)
	}
	return code
}

// command runs a command line for run.
func command(
	ctx context.Context, args []string, env func(string) string, stdin io.Reader, stdout, stderr io.Writer,
) int {
	name, err := "viz", checkKernel(env)
	switch {
	case err != nil:
	case len(args) == 0 || (strings.HasPrefix(args[0], "-") && !isHelp(args[0])):
		err = serve(ctx, args, env, stdout, stderr)
	case args[0] == "serve":
		name, err = "viz serve", serve(ctx, args[1:], env, stdout, stderr)
	case args[0] == "trace":
		name, err = "viz trace", trace(ctx, args[1:], env, stdin, stdout, stderr)
	case args[0] == "why":
		name, err = "viz why", runWhy(ctx, args[1:], env, stdin, stdout, stderr)
	case args[0] == "score":
		name, err = "viz score", runScore(ctx, args[1:], env, stdin, stdout, stderr)
	case args[0] == "inspect":
		name, err = "viz inspect", inspect(ctx, args[1:], env, stdout)
	case args[0] == "bench":
		name, err = "viz bench", runBench(ctx, args[1:], env, stdout, stderr)
	case args[0] == "load":
		name, err = "viz load", runLoad(ctx, args[1:], env, stdout, stderr)
	case args[0] == "lab":
		name, err = "viz lab", runLab(ctx, args[1:], env, stdout, stderr)
	case args[0] == "notices":
		name, err = "viz notices", printNotices(args[1:], stdout)
	case args[0] == "lessons":
		name, err = "viz lessons", runLessons(ctx, args[1:], stdout)
	case args[0] == "rooms":
		name, err = "viz rooms", runRooms(ctx, args[1:], env, stdout)
	case args[0] == "check":
		name, err = "viz check", runCheck(ctx, args[1:], env, stdout)
	case args[0] == "backup":
		name, err = "viz backup", runBackup(ctx, args[1:], env, stdout)
	case args[0] == "data":
		name, err = "viz data", runData(ctx, args[1:], env, stdout, stderr)
	case args[0] == "site":
		name, err = "viz site", runSite(ctx, args[1:], env, stdout)
	case args[0] == "version":
		name, err = "viz version", printVersion(args[1:], stdout)
	case isHelp(args[0]):
		_, err = io.WriteString(stdout, about)
	default:
		err = usageError{
			fmt.Errorf(
				"unknown command %q; the commands are serve, trace, why, score, inspect, bench, lab, load, "+
					"lessons, rooms, check, backup, data, site, notices and version", args[0],
			),
		}
	}
	return report(ctx, name, err, stderr)
}

// checkKernel rejects a value of VIZ_KERNEL that is not a kernel path, since the engine would
// otherwise use another path without reporting it.
func checkKernel(env func(string) string) error {
	if name := env(kernel.Environment); name != "" {
		if _, err := kernel.ParsePath(name); err != nil {
			return usageError{fmt.Errorf("%s: %w", kernel.Environment, err)}
		}
	}
	return nil
}

func isHelp(arg string) bool {
	switch arg {
	case "-h", "--h", "-help", "--help", "help":
		return true
	}
	return false
}

// usageError is an error in the command line, as opposed to an error during the run.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// report prints a message about err, if it is not nil, and returns the exit code.
func report(ctx context.Context, name string, err error, stderr io.Writer) int {
	var stop interruption
	var usage usageError
	var unfit unfitError
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return exitDone
	case errors.Is(err, syscall.EPIPE):
		return exitBrokenPipe // the reader has closed the pipe
	case errors.As(context.Cause(ctx), &stop):
		return stop.code()
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return exitInterrupted
	case errors.As(err, &unfit):
		fmt.Fprintf(stderr, "%s: %s\n", name, inLines(err))
		return exitUsage
	case errors.As(err, &usage):
		fmt.Fprintf(stderr, "%s: %s\nRun \"%s -h\" for help.\n", name, inLines(err), name)
		return exitUsage
	}
	fmt.Fprintf(stderr, "%s: %s\n", name, inLines(err))
	return exitFailed
}

// inLines returns an error's text. All lines but the first are indented, so a file name with a
// newline does not look like a message.
func inLines(err error) string { return strings.ReplaceAll(err.Error(), "\n", "\n  ") }

// printVersion runs viz version.
func printVersion(args []string, stdout io.Writer) error {
	if len(args) > 0 && !isHelp(args[0]) {
		return usageError{fmt.Errorf("unexpected argument %q; viz version takes no arguments", args[0])}
	}
	_, err := fmt.Fprintln(stdout, version())
	return err
}

// release is the version of a release binary, which cmd/viz/dist sets through the linker. In other
// binaries, it is empty.
var release string

// version describes this binary: its version, or the commit it was built from,
// and the Go version.
func version() string {
	v := "development build"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				v = "commit " + s.Value
			}
		}
		if m := info.Main.Version; m != "" && m != "(devel)" {
			v = m
		}
	}
	if release != "" {
		v = release
	}
	return fmt.Sprintf("viz %s, %s %s/%s", v, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
