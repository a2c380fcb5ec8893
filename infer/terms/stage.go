package terms

// Stage is one of the seven stages of a loop's turn, as pages and messages call
// it.
type Stage struct {
	Key   string // in JSON, links and lessons: "cache"
	Name  string // "Cache grows"
	Short string // where there is little room: "Cache"
}

var stages = [...]Stage{
	{"forward", "Forward pass", "Forward"},
	{"logits", "Logits", "Logits"},
	{"softmax", "Softmax", "Softmax"},
	{"filter", "Filter", "Filter"},
	{"sample", "Sample", "Sample"},
	{"append", "Append", "Append"},
	{"cache", "Cache grows", "Cache"},
}

// Stages is how many stages a turn has.
const Stages = len(stages)

// StageAt is the n-th stage, from 1 to [Stages].
func StageAt(n int) Stage { return stages[n-1] }

// StageShorts are the short names of all stages in the order in which they run.
func StageShorts() []string {
	var names []string
	for _, s := range stages {
		names = append(names, s.Short)
	}
	return names
}

// StageKeys are the keys of all stages in the order in which they run.
func StageKeys() []string {
	var keys []string
	for _, s := range stages {
		keys = append(keys, s.Key)
	}
	return keys
}
