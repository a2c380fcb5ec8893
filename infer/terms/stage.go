package terms

// Stage holds the names of one of the seven stages of a loop's turn.
type Stage struct {
	Key   string // in JSON, links and lessons: "cache"
	Name  string // "Cache grows"
	Short string // the short name: "Cache"
}

var stageKeys = [...]string{"forward", "logits", "softmax", "filter", "sample", "append", "cache"}

// Stages is the number of stages of a turn.
const Stages = len(stageKeys)

// StageAt returns the n-th stage, from 1 to [Stages].
func StageAt(n int) Stage { return English.Stage(n) }

// StageKeys returns the keys of all stages in the order in which they run.
func StageKeys() []string { return append([]string(nil), stageKeys[:]...) }
