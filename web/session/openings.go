package session

import "github.com/tokenbytoken/viz/infer"

// Opening is the beginning of a text that the bundled model continues well. A test runs the bundled
// model on each opening and checks what its kind promises. With any other model, openings are
// merely prompts.
type Opening struct {
	Kind OpeningKind
	Text string
	// Answer is what the model must generate after an opening about a capital or a sum: the first
	// generated line contains it. For a tale, Answer is "".
	Answer string
}

// OpeningKind is the kind of an opening, which determines what the opening promises.
type OpeningKind int

// The kinds of openings. A tale ends its first sentence within forty tokens and does not repeat
// itself. Its beginning is open: with the settings of a new run, each of its first four draws is
// among at least [OpenTokens] tokens. For openings of the other kinds, the most likely tokens give
// the correct answer.
const (
	Tale OpeningKind = iota
	Capital
	Sum
	Question
)

// Openings lists all openings, by kind.
var Openings = []Opening{
	{Tale, "There once was a giant with a", ""},
	{Tale, "There was once a poor girl with a", ""},
	{Tale, "In a village lived a happy dog and a", ""},
	{Tale, "There once was a big king who had", ""},
	{Tale, "There was once a girl with a", ""},
	{Tale, "By the river lived a lonely dog and a", ""},
	{Capital, "The capital of France is", "Paris"},
	{Capital, "The capital of Japan is", "Tokyo"},
	{Capital, "The capital of Egypt is", "Cairo"},
	{Capital, "The capital of Peru is", "Lima"},
	{Capital, "The capital of Canada is", "Ottawa"},
	{Sum, "7 + 8 =", "15"},
	{Sum, "3 + 4 =", "7"},
	{Sum, "12 + 5 =", "17"},
	{Sum, "Nine plus four is", "thirteen"},
	{Question, "User: What do cats eat?\nAssistant:", "fish"},
	{Question, "User: What is the capital of Spain?\nAssistant:", "Madrid"},
}

// OpenTokens is the minimum number of tokens that each of a tale's first draws can choose from.
const OpenTokens = 5

// OpeningOf returns the nth opening of a kind, starting over after the last one.
func OpeningOf(k OpeningKind, n int) Opening {
	var list []Opening
	for _, o := range Openings {
		if o.Kind == k {
			list = append(list, o)
		}
	}
	return list[n%len(list)]
}

// KnowsOpenings reports whether the openings were checked for this model. Only then may pages
// claim that the model is good at something.
func KnowsOpenings(m *infer.Model) bool { return m.Hash() == openingsModel }

// openingsModel is the hash of the bundled model.
const openingsModel = "9d2b8b9d2aff36956dc9d9c2850cd304846155fb1b60c7b4e83c4a82ace035ef"
