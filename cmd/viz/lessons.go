package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
)

const lessonsUsage = `Usage: viz lessons check DIR

Checks every link, figure and setting in a folder of your own lessons,
questions, cards and walkthroughs, which "viz serve -lessons DIR" adds to the
built-in ones. Errors are printed as file:line: message, and viz exits with code 2.
lessons/README.md describes the file formats.
`

// runLessons runs viz lessons.
func runLessons(ctx context.Context, args []string, stdout io.Writer) error {
	if len(args) == 0 || isHelp(args[0]) || len(args) > 1 && isHelp(args[1]) {
		_, err := io.WriteString(stdout, lessonsUsage)
		return err
	}
	if args[0] != "check" {
		return usageError{fmt.Errorf("unknown subcommand %q (want check)", args[0])}
	}
	if len(args) != 2 || args[1] == "" || strings.HasPrefix(args[1], "-") {
		return usageError{fmt.Errorf("check requires one folder: viz lessons check DIR")}
	}
	dir := args[1]
	course, err := ownLessons(dir)
	if err != nil {
		return unfitError{err}
	}
	builtIn, err := lessons.Load()
	if err != nil {
		return err
	}
	w := terms.In(ctx)
	_, err = fmt.Fprintln(stdout, w.T(
		"cmd.lessons.sound", "folder", terms.Printable(dir),
		"lessons", w.Counted(len(course.Lessons)-len(builtIn.Lessons), "lesson"),
		"questions", w.Counted(len(course.Questions)-len(builtIn.Questions), "question"),
		"cards", w.Counted(len(course.Cards)-len(builtIn.Cards), "card"),
		"walks", w.Counted(len(course.Walks)-len(builtIn.Walks), "walkthrough"),
	))
	return err
}

// ownLessons loads the course together with a folder of the instructor's own lessons.
func ownLessons(dir string) (*lessons.Course, error) {
	if dir != "" {
		return lessons.LoadWith(dir)
	}
	course, err := loadCourse()
	if err != nil {
		return nil, fmt.Errorf("loading the built-in lessons: %w", err)
	}
	return course, nil
}

// loadCourse loads the embedded course. Tests cache its result.
var loadCourse = lessons.Load
