package terms

import "slices"

// Knob is a numeric setting that a user can change: one that shapes or cuts the distribution, the
// seed, or the token limit. Every form, flag, file and message uses these knobs, so they all accept
// the same values under the same names and reject other values with the same message.
type Knob struct {
	Input        // Key is its name in JSON, forms, lesson files, labs and the API: "top_k"
	Short string // its short name in lanes and in lesson experiments: "k"
	Flag  string // its name on the command line
	// Letter is its name in links, which must be short. It never changes and is never reused for
	// another knob, because people keep links for years.
	Letter string
	Arg    string // the placeholder for its value in command help
	Name   string // its name within a sentence: "top-k"

	// Late is set for knobs that labs omit, because the labs' forms show only the most common
	// knobs.
	Late bool
}

// Bounds of knobs that are also used by the engine.
const (
	// MaxTemperature is far above the temperatures at which every distribution is nearly flat, so
	// any larger value is probably a typo.
	MaxTemperature = 100
	// MaxSeed is the largest integer up to which all integers are exact JavaScript numbers, so a
	// seed stays the same in any page or notebook.
	MaxSeed = 1<<53 - 1
	// MaxMaxTokens is the highest token limit.
	MaxMaxTokens = 1_000_000
)

// unbounded is the Max of a knob without an upper limit. In a float64, integers are exact up to
// this value.
const unbounded = 1 << 53

// knobs holds the knobs without their words, which belong to a [Language].
var knobs = [...]Knob{
	{
		Input: Input{Key: "temperature", Kind: KindFloat, Max: MaxTemperature, To: 2, Step: 0.05},
		Short: "t", Flag: "temp", Letter: "t", Arg: "T",
	},
	{
		Input: Input{Key: "top_k", Kind: KindInt, Unit: "token", Max: unbounded, To: 100, Step: 1},
		Short: "k", Flag: "top-k", Letter: "k", Arg: "K",
	},
	{
		Input: Input{Key: "top_p", Kind: KindFloat, Max: 1, Open: true, From: 0.01, To: 1, Step: 0.01},
		Short: "p", Flag: "top-p", Letter: "p", Arg: "P",
	},
	{
		Input: Input{Key: "min_p", Kind: KindFloat, Max: 1, To: 1, Step: 0.01},
		Short: "minp", Flag: "min-p", Letter: "m", Arg: "P",
	},
	{
		Input: Input{Key: "typical_p", Kind: KindFloat, Max: 1, Open: true, From: 0.01, To: 1, Step: 0.01},
		Short: "typical", Flag: "typical-p", Letter: "y", Arg: "P",
	},
	{
		Input: Input{Key: "repetition_penalty", Kind: KindFloat, Min: 1, Max: 10, From: 1, To: 2, Step: 0.05},
		Short: "rep", Flag: "repetition-penalty", Letter: "o", Arg: "R",
	},
	{
		Input: Input{Key: "frequency_penalty", Kind: KindFloat, Min: -2, Max: 2, From: -2, To: 2, Step: 0.1},
		Short: "freq", Flag: "frequency-penalty", Letter: "q", Arg: "A",
	},
	{
		Input: Input{Key: "presence_penalty", Kind: KindFloat, Min: -2, Max: 2, From: -2, To: 2, Step: 0.1},
		Short: "pres", Flag: "presence-penalty", Letter: "e", Arg: "A",
	},
	{
		Input: Input{Key: "top_n_sigma", Kind: KindFloat, Max: 100, To: 4, Step: 0.1},
		Short: "nsigma", Flag: "top-n-sigma", Letter: "n", Arg: "N", Late: true,
	},
	{
		Input: Input{Key: "xtc_probability", Kind: KindFloat, Max: 1, To: 1, Step: 0.05},
		Short: "xtc", Flag: "xtc-probability", Letter: "c", Arg: "P", Late: true,
	},
	{
		Input: Input{Key: "xtc_threshold", Kind: KindFloat, Max: 0.5, Open: true, From: 0.01, To: 0.5, Step: 0.01},
		Short: "xtcmin", Flag: "xtc-threshold", Letter: "h", Arg: "P", Late: true,
	},
	{
		Input: Input{Key: "dry_multiplier", Kind: KindFloat, Max: 100, To: 2, Step: 0.1},
		Short: "dry", Flag: "dry-multiplier", Letter: "d", Arg: "M", Late: true,
	},
	{
		Input: Input{Key: "dry_base", Kind: KindFloat, Min: 1, Max: 100, From: 1, To: 4, Step: 0.05},
		Short: "drybase", Flag: "dry-base", Letter: "b", Arg: "B", Late: true,
	},
	{
		Input: Input{
			Key: "dry_allowed_length", Kind: KindInt, Unit: "token", Min: 1, Max: 1000, From: 1, To: 20, Step: 1,
		},
		Short: "drylength", Flag: "dry-allowed-length", Letter: "a", Arg: "N", Late: true,
	},
	{
		Input: Input{Key: "mirostat_tau", Kind: KindFloat, Max: 100, To: 10, Step: 0.1},
		Short: "tau", Flag: "mirostat-tau", Letter: "u", Arg: "BITS", Late: true,
	},
	{
		Input: Input{Key: "mirostat_eta", Kind: KindFloat, Max: 1, Open: true, From: 0.01, To: 1, Step: 0.01},
		Short: "eta", Flag: "mirostat-eta", Letter: "v", Arg: "E", Late: true,
	},
	{
		Input: Input{Key: "seed", Kind: KindInt, Max: MaxSeed, To: MaxSeed, Step: 1, Typed: true},
		Short: "seed", Flag: "seed", Letter: "r", Arg: "S",
	},
	{
		Input: Input{
			Key: "max_tokens", Kind: KindInt, Unit: "token", Min: 1, Max: MaxMaxTokens, From: 1, To: 500, Step: 1,
		},
		Short: "tokens", Flag: "n", Letter: "x", Arg: "N",
	},
}

// Knobs returns all knobs, in the order in which they are shown.
func Knobs() []Knob { return English.Knobs() }

// KnobKeys returns the keys of all knobs, in order.
func KnobKeys() []string {
	var keys []string
	for _, k := range knobs {
		keys = append(keys, k.Key)
	}
	return keys
}

// SetKeys returns the keys of the knobs that the "set" command can change in runs, classes and
// walkthroughs: all knobs except the token limit, which is a stop condition.
func SetKeys() []string {
	return slices.DeleteFunc(KnobKeys(), func(key string) bool { return key == "max_tokens" })
}

// KnobOf returns the knob with the given key. It returns false if there is none.
func KnobOf(key string) (Knob, bool) { return English.Knob(key) }

// KnobNamed is like [KnobOf], for names that users type: it also accepts the short name and the
// flag.
func KnobNamed(name string) (Knob, bool) {
	for _, k := range English.knobs {
		if name == k.Key || name == k.Short || name == k.Flag {
			return k, true
		}
	}
	return Knob{}, false
}

// MustKnob is like [KnobOf], for a key that is a constant in the program. It panics if there is no
// such knob.
func MustKnob(key string) Knob {
	k, ok := KnobOf(key)
	if !ok {
		panic("terms: unknown knob " + key)
	}
	return k
}
