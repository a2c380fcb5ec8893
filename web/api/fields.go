package api

import (
	"maps"
	"slices"
	"strings"

	"github.com/tokenbytoken/viz/web/stage"
)

// codes returns a list of names, each formatted as code. key names the text that appends the next
// name to the list so far.
func codes(w stage.Words, key string, names []string) (list stage.Rich) {
	for i, name := range names {
		code := stage.Span{S: name, Style: stage.Code}
		if i == 0 {
			list = stage.Rich{code}
			continue
		}
		list = w.Rich(key, "list", list, "next", code)
	}
	return list
}

// accepted is a group of fields that have no effect and that accept the same values.
type accepted struct {
	Values []string // as JSON; empty for any value
	Names  []string
}

// acceptedFields groups [others] by the accepted values. The first group accepts any value.
func acceptedFields() (list []accepted) {
	byValues := map[string]accepted{}
	for _, name := range slices.Sorted(maps.Keys(others)) {
		values := others[name].off
		if !others[name].label && values == nil {
			values = []string{"null"}
		}
		key := strings.Join(values, " ")
		byValues[key] = accepted{values, append(byValues[key].Names, name)}
	}
	for _, key := range slices.Sorted(maps.Keys(byValues)) {
		list = append(list, byValues[key])
	}
	return list
}

// dependentFields returns the fields that have no effect, whatever their value, while the settings
// that they depend on are off.
func dependentFields() (names []string) {
	for _, name := range slices.Sorted(maps.Keys(others)) {
		if others[name].without != nil {
			names = append(names, name)
		}
	}
	return names
}
