package terms

import (
	"slices"
	"strings"
)

// Command is a command that a page or a program can send to a live part of a page, such as a run or
// a class. T is that part's command type.
type Command[T any] struct {
	Name   string
	Inputs Inputs
	// Make returns the command with the given values. An input that was omitted and has no default
	// does not have a value.
	Make func(v Values) T
}

// Commands lists all commands of one kind of live part.
type Commands[T any] []Command[T]

// Find returns the command with the given name. It returns false if there is none.
func (list Commands[T]) Find(name string) (Command[T], bool) {
	i := slices.IndexFunc(list, func(c Command[T]) bool { return c.Name == name })
	if i < 0 {
		return Command[T]{}, false
	}
	return list[i], true
}

// Names returns the names of the commands, sorted.
func (list Commands[T]) Names() []string {
	var names []string
	for _, c := range list {
		names = append(names, c.Name)
	}
	slices.Sort(names)
	return names
}

// Read makes the command with the given name from its fields. If there is an unknown field, the
// error names it. ok is false if there is no such command.
func (list Commands[T]) Read(name string, f *Fields) (made T, ok bool, err *Refusal) {
	c, ok := list.Find(name)
	if !ok {
		return made, false, nil
	}
	v := f.ReadAll(c.Inputs)
	if err := f.Unexpected(name, strings.Join(c.Inputs.Keys(), ", ")); err != nil {
		return made, true, err
	}
	return c.Make(v), true, nil
}
