package terms

// Stop is how pages and messages speak of one reason for which a text ends.
type Stop struct {
	Key   string // in JSON: "max_tokens"
	Name  string // of the condition: "max tokens"
	Short string // where there is little room: "max tokens"
	A     string // of one that was met, in a sentence: "the limit, max tokens"
	Done  string // a heading once it was met: "max tokens reached"
	Why   string // the same as half a sentence: "the limit on tokens is reached"
}

// stopKeys are in the order in which the conditions are asked.
var stopKeys = [...]string{"eos", "stop_string", "max_tokens", "context"}

// StopOf is the reason with the key, and an empty one for any other.
func StopOf[K ~string](key K) Stop { return English.Stop(string(key)) }

// Stops are all reasons, in the order in which they are asked.
func Stops() []Stop { return append([]Stop(nil), English.stops...) }
