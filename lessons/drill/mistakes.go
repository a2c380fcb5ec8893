package drill

// slipNames describes what the learner did in each mistake, without the numbers. The descriptions
// are meant for other people, such as an instructor.
var slipNames = map[Mistake]string{
	Largest:     "divided by the largest number, not by the sum",
	Renormalize: "forgot to renormalize",
	TimesT:      "multiplied by T instead of dividing",
	IgnoredT:    "left T out",
	AfterT:      "applied T in the wrong place",
	Multiplied:  "multiplied by a number instead of raising to it or adding it",
	Crossing:    "left out the token that crosses the border",
	OneTooFew:   "kept one token too few",
	OneTooMany:  "kept one token too many",
	Rounding:    "rounded too early or too much",
	Base10:      "raised 10 instead of e",
	Base2:       "raised 2 instead of e",
	TimesE:      "multiplied by e instead of raising it to a power",
	NoExp:       "used the logits without raising e to them",
	Shifted:     "subtracted the largest logit first",
	Swapped:     "took a number from another column",
	OtherRow:    "took a number from another row",
	Unsorted:    "added up in the order of the rows, not by size",
	NotRunning:  "gave the single number instead of the running sum",
	LeftOut:     "left a number out of a sum",
	NotCut:      "left a cut token its probability",
	Percent:     "wrote a percentage without its sign",
	Printed:     "gave a value that a source misprints",
	KeysAlone:   "counted the keys and forgot the values",
	QueryHeads:  "counted query heads instead of KV heads",
	NoBytes:     "forgot the bytes of each number",
	Units:       "mixed up GB and GiB",
	Missing:     "left something out",
	OffByOne:    "was one step off",
	Averaged:    "mixed two prices into one",
	OtherOption: "chose another option",
}

// Name briefly describes the mistake that a learner made. It returns "" for unknown values of m.
func (m Mistake) Name() string { return slipNames[m] }
