package drill

import "github.com/tokenbytoken/viz/infer/terms"

// slipNames holds the texts that describe what the learner did in each mistake, without the numbers.
// They are meant for other people, such as an instructor.
var slipNames = map[Mistake]string{
	OtherT:      "drill.mistake.other_t",
	Largest:     "drill.mistake.largest",
	Renormalize: "drill.mistake.renormalize",
	TimesT:      "drill.mistake.times_t",
	IgnoredT:    "drill.mistake.ignored_t",
	AfterT:      "drill.mistake.after_t",
	Multiplied:  "drill.mistake.multiplied",
	Crossing:    "drill.mistake.crossing",
	OneTooFew:   "drill.mistake.one_too_few",
	OneTooMany:  "drill.mistake.one_too_many",
	Rounding:    "drill.mistake.rounding",
	Base10:      "drill.mistake.base10",
	Base2:       "drill.mistake.base2",
	TimesE:      "drill.mistake.times_e",
	NoExp:       "drill.mistake.no_exp",
	Shifted:     "drill.mistake.shifted",
	NoRoot:      "drill.mistake.no_root",
	NoQuery:     "drill.mistake.no_query",
	LookedAhead: "drill.mistake.looked_ahead",
	NotAdded:    "drill.mistake.not_added",
	Swapped:     "drill.mistake.swapped",
	OtherRow:    "drill.mistake.other_row",
	Unsorted:    "drill.mistake.unsorted",
	NotRunning:  "drill.mistake.not_running",
	LeftOut:     "drill.mistake.left_out",
	NotCut:      "drill.mistake.not_cut",
	Percent:     "drill.mistake.percent",
	Printed:     "drill.mistake.printed",
	KeysAlone:   "drill.mistake.keys_alone",
	QueryHeads:  "drill.mistake.query_heads",
	NoBytes:     "drill.mistake.no_bytes",
	Units:       "drill.mistake.units",
	Missing:     "drill.mistake.missing",
	OffByOne:    "drill.mistake.off_by_one",
	Averaged:    "drill.mistake.averaged",
	OtherOption: "drill.mistake.other_option",
}

// Known reports whether m is one of the mistakes above.
func (m Mistake) Known() bool { return slipNames[m] != "" }

// Name briefly describes the mistake that a learner made. It returns "" for unknown values of m.
func (m Mistake) Name(l *terms.Language) string {
	if !m.Known() {
		return ""
	}
	return l.T(slipNames[m])
}
