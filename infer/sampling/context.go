package sampling

// Context holds a step's data, other than its scores, that rules can use. The zero value suits
// rules that use only the scores.
type Context struct {
	// Text holds the token ids of the text so far, including the prompt. It is needed only if
	// [Settings.ReadsText] returns true. The last Step−1 ids were generated.
	Text  []int
	Seed  uint64
	Step  int // 1 for the first generated token
	State State
	// Breaks reports whether a token ends the passages that DRY looks for; a nil Breaks means that
	// no token does.
	Breaks func(id int) bool
	// Allowed reports whether the grammar allows a token at this step. At least one token must be
	// allowed; if Allowed is nil, all are.
	Allowed func(id int) bool
}

// State holds the data that rules carry from one step to the next, by index in the chain. It is nil
// at the first step. It is never modified: each step creates a new State ([Distribution.Next]), so
// a repeated step starts from the same state.
type State []any

// input is the input of one rule.
type input struct {
	Settings
	text   []int
	wrote  []int   // the generated part of text
	state  any     // what the rule's next function returned at the previous step, or nil
	u      float64 // uniform in [0, 1), for this rule at this step
	breaks func(id int) bool
	allows func(id int) bool
}

// input returns the input for the rule at an index in the chain. The rule's u is a function of
// seed, step and index, just as the u of the draw is a function of seed and step.
func (c Context) input(s Settings, index int) input {
	prompt := len(c.Text) - min(max(c.Step-1, 0), len(c.Text))
	in := input{
		Settings: s, text: c.Text, wrote: c.Text[prompt:], breaks: c.Breaks, allows: c.Allowed,
		u: UFor(c.Seed, c.Step, ForRule+Purpose(index)),
	}
	if index < len(c.State) {
		in.state = c.State[index]
	}
	return in
}

// Scores holds a step's scores after the rules that change them. The scores are Z/T, but the
// softmax does the division, in float64.
type Scores struct {
	Z []float32 // [vocab] by token id; the logits themselves if no rule changed them
	T float64
}

// Score runs the rules that change scores on logits z [vocab], without modifying z.
func (c Context) Score(z []float32, s Settings) Scores {
	scores := Scores{z, 1}
	for index, r := range chain {
		if r.name == RuleTemperature && !s.heatsFirst() {
			continue
		}
		if _, on := r.on(s); on && r.score != nil {
			scores = r.score(scores, c.input(s, index))
		}
	}
	return scores
}

// Softmax returns [Softmax] of the scores.
func (s Scores) Softmax() (p []float64, max, sum float64) { return Softmax(s.Z, s.T) }

// cut applies the temperature and the cutting rules to a field, in the order given by the settings.
// It returns each rule's effect, and a field with the remaining tokens and the probabilities for
// drawing them.
func (c Context) cut(f field, s Settings) (cuts Cuts, left field) {
	measure, late := s.OrderInForce().Measure(), s.HeatsLate()
	on := f // the field on which the next rule is measured
	if s.Grammar != "" {
		cuts, on = c.constrain(f, s)
	}
	for _, index := range s.indexes() {
		r := chain[index]
		x, isOn := r.on(s)
		switch {
		case r.name == RuleTemperature && late:
			on = on.heat(x)
		case isOn && r.keep != nil:
			m := r.keep(on, c.input(s, index))
			cut := Cut{
				Rule: r.name, At: x, Keeps: m.n, Of: len(on.ids), Bound: m.bound,
				mask: on.lift(m, len(f.ids)), alone: m, index: index, field: on,
			}
			cut.Moved = 1 - on.of(m).mass/on.mass
			if cuts = append(cuts, cut); measure == OnRest {
				on = on.of(m)
			}
		}
	}
	return cuts, on
}

// Next returns the rules' state after the token with rank r has been drawn, for the next step's
// [Context]. It returns nil if no rule has state.
func (d *Distribution) Next(r int) State {
	var state State
	for index, rule := range chain {
		if _, on := rule.on(d.Settings); !on || rule.next == nil {
			continue
		}
		if state == nil {
			state = make(State, len(chain))
		}
		state[index] = rule.next(d, r, d.context.input(d.Settings, index))
	}
	return state
}
