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

// stops are in the order in which they are asked.
var stops = [...]Stop{
	{"eos", "end of text", "end of text", "an end of text", "end of text", "the model ended the text"},
	{"stop_string", "stop string", "stop string", "a stop string", "stop string", "a stop string came up"},
	{
		"max_tokens", "max tokens", "max tokens", "the limit, max tokens", "max tokens reached",
		"the limit on tokens is reached",
	},
	{
		"context", "context window", "window full", "a full context window", "context window full",
		"the context window is full",
	},
}

// StopOf is the reason with the key, and an empty one for any other.
func StopOf[K ~string](key K) Stop {
	for _, s := range stops {
		if s.Key == string(key) {
			return s
		}
	}
	return Stop{}
}

// Stops are all reasons, in the order in which they are asked.
func Stops() []Stop { return append([]Stop(nil), stops[:]...) }
