package terms

import (
	"math"
	"slices"
)

// Knob is a numeric setting that a user can change: one that shapes or cuts the distribution, the
// seed, or the token limit. Every form, flag, file and message uses these knobs, so that all accept
// the same values under the same names and reject other values with the same message.
type Knob struct {
	Key   string // its name in JSON, forms, lesson files, labs and the API: "top_k"
	Short string // its short name in lanes and in the experiments of lessons: "k"
	Flag  string // its name on the command line
	// Letter is its name in links, which must be short. It never changes and is never reused for
	// another knob, since people keep links for years.
	Letter string
	Arg    string // the placeholder for its value in the help of commands
	Label  string // its label: "Top-k"
	Name   string // its name within a sentence: "top-k"
	The    string // the beginning of a sentence about it
	Unit   string // the unit of its value, or ""
	Help   string // its effect, in one clause

	// Min and Max are the bounds of the accepted values. If Open is set, Min itself is not
	// accepted; if Whole is set, only integers are. Want describes the accepted values in words.
	Min, Max    float64
	Open, Whole bool
	Want        string
	wantNumber  string

	// The range and step of a slider, which covers most values worth trying.
	From, To, Step float64

	// Late is set for knobs that labs and the experiments of lessons omit, since their forms show
	// only the most common knobs.
	Late bool
}

// Bounds of knobs that are also used by the engine.
const (
	// MaxTemperature is far above the temperatures at which every distribution is nearly flat, so a
	// larger value must be a typo.
	MaxTemperature = 100
	// MaxSeed is the largest integer up to which JavaScript numbers are exact, so that a seed stays
	// the same in any page or notebook.
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
		Key: "temperature", Short: "t", Flag: "temp", Letter: "t", Arg: "T",
		Max: MaxTemperature, To: 2, Step: 0.05,
	},
	{
		Key: "top_k", Short: "k", Flag: "top-k", Letter: "k", Arg: "K", Unit: "token",
		Max: unbounded, Whole: true, To: 100, Step: 1,
	},
	{
		Key: "top_p", Short: "p", Flag: "top-p", Letter: "p", Arg: "P",
		Max: 1, Open: true, From: 0.01, To: 1, Step: 0.01,
	},
	{
		Key: "min_p", Short: "minp", Flag: "min-p", Letter: "m", Arg: "P",
		Max: 1, To: 1, Step: 0.01,
	},
	{
		Key: "typical_p", Short: "typical", Flag: "typical-p", Letter: "y", Arg: "P",
		Max: 1, Open: true, From: 0.01, To: 1, Step: 0.01,
	},
	{
		Key: "repetition_penalty", Short: "rep", Flag: "repetition-penalty", Letter: "o", Arg: "R",
		Min: 1, Max: 10, From: 1, To: 2, Step: 0.05,
	},
	{
		Key: "frequency_penalty", Short: "freq", Flag: "frequency-penalty", Letter: "q", Arg: "A",
		Min: -2, Max: 2, From: -2, To: 2, Step: 0.1,
	},
	{
		Key: "presence_penalty", Short: "pres", Flag: "presence-penalty", Letter: "e", Arg: "A",
		Min: -2, Max: 2, From: -2, To: 2, Step: 0.1,
	},
	{
		Key: "top_n_sigma", Short: "nsigma", Flag: "top-n-sigma", Letter: "n", Arg: "N", Late: true,
		Max: 100, To: 4, Step: 0.1,
	},
	{
		Key: "xtc_probability", Short: "xtc", Flag: "xtc-probability", Letter: "c", Arg: "P", Late: true,
		Max: 1, To: 1, Step: 0.05,
	},
	{
		Key: "xtc_threshold", Short: "xtcmin", Flag: "xtc-threshold", Letter: "h", Arg: "P", Late: true,
		Max: 0.5, Open: true, From: 0.01, To: 0.5, Step: 0.01,
	},
	{
		Key: "dry_multiplier", Short: "dry", Flag: "dry-multiplier", Letter: "d", Arg: "M", Late: true,
		Max: 100, To: 2, Step: 0.1,
	},
	{
		Key: "dry_base", Short: "drybase", Flag: "dry-base", Letter: "b", Arg: "B", Late: true,
		Min: 1, Max: 100, From: 1, To: 4, Step: 0.05,
	},
	{
		Key: "dry_allowed_length", Short: "drylength", Flag: "dry-allowed-length", Letter: "a", Arg: "N",
		Unit: "token", Late: true, Min: 1, Max: 1000, Whole: true, From: 1, To: 20, Step: 1,
	},
	{
		Key: "mirostat_tau", Short: "tau", Flag: "mirostat-tau", Letter: "u", Arg: "BITS", Late: true,
		Max: 100, To: 10, Step: 0.1,
	},
	{
		Key: "mirostat_eta", Short: "eta", Flag: "mirostat-eta", Letter: "v", Arg: "E", Late: true,
		Max: 1, Open: true, From: 0.01, To: 1, Step: 0.01,
	},
	{
		Key: "seed", Short: "seed", Flag: "seed", Letter: "r", Arg: "S",
		Max: MaxSeed, Whole: true, To: MaxSeed, Step: 1,
	},
	{
		Key: "max_tokens", Short: "tokens", Flag: "n", Letter: "x", Arg: "N", Unit: "token",
		Min: 1, Max: MaxMaxTokens, Whole: true, From: 1, To: 500, Step: 1,
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

// SetKeys returns the keys of the knobs that the command "set" can change in runs, classes and
// walkthroughs. These are all knobs except the token limit, which is a stop condition.
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
		panic("terms: there is no knob " + key)
	}
	return k
}

// WantNumber returns the variant of Want for a value that is not a number.
func (k Knob) WantNumber() string { return k.wantNumber }

// Check returns a *[RangeError] if the knob does not accept the value, and nil otherwise.
func (k Knob) Check(x float64) error {
	switch {
	case !(x >= k.Min && x <= k.Max), k.Open && x == k.Min:
		return &RangeError{Field: k.Key, Got: Plain(x), Want: k.Want}
	case k.Whole && x != math.Trunc(x):
		return &RangeError{Field: k.Key, Got: Plain(x), Want: k.WantNumber()}
	}
	return nil
}

// Parse parses a value that a user typed ([ReadNumber]). The error is a *[RangeError].
func (k Knob) Parse(text string) (float64, error) {
	x, ok := ReadNumber(text)
	if !ok {
		return 0, &RangeError{Field: k.Key, Got: Quoted(text), Want: k.WantNumber()}
	}
	return x, k.Check(x)
}
