package terms

// Stop holds the texts that describe one stop condition.
type Stop struct {
	Key   string // in JSON: "max_tokens"
	Name  string // the name of the condition: "max tokens"
	Short string // the short name: "max tokens"
	A     string // the condition that was met, within a sentence: "the max-tokens limit"
	Done  string // the heading when the condition was met: "max tokens reached"
	Why   string // the same as a clause: "the token limit was reached"
}

// stopKeys lists the keys of the stop conditions in the order in which they are checked.
var stopKeys = [...]string{"eos", "stop_string", "max_tokens", "context"}

// Stops returns all reasons, in the order in which they are checked.
func Stops() []Stop { return append([]Stop(nil), English.stops...) }
