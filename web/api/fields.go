package api

import (
	"maps"
	"slices"
	"strings"
)

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

// dependentFields returns the fields that have no effect, whatever their value, while the
// settings that they belong to are off.
func dependentFields() (names []string) {
	for _, name := range slices.Sorted(maps.Keys(others)) {
		if others[name].without != nil {
			names = append(names, name)
		}
	}
	return names
}
