package session

import "github.com/tokenbytoken/viz/infer"

// Opening is a beginning that the bundled model continues well. A test has that
// model continue each of them and checks what its kind promises; on another
// model they are only prompts.
type Opening struct {
	Kind OpeningKind
	Text string
	// Answer is what the model writes first after a capital or a sum, and what its
	// first line contains after a question; "" after a tale.
	Answer string
}

// OpeningKind is what an opening promises.
type OpeningKind int

// The kinds. A tale ends its first sentence within forty tokens and does not repeat itself, and
// what comes first is open: with the settings of a new run, each of its first four draws is among
// [OpenTokens] at least. The others are answered correctly by the likeliest tokens.
const (
	Tale OpeningKind = iota
	Capital
	Sum
	Question
)

// Openings are all of them, by kind.
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

// OpenTokens are how many tokens a draw is among at least where a tale begins.
const OpenTokens = 5

// OpeningOf returns the nth opening of a kind; after the last one follows the first.
func OpeningOf(k OpeningKind, n int) Opening {
	var list []Opening
	for _, o := range Openings {
		if o.Kind == k {
			list = append(list, o)
		}
	}
	return list[n%len(list)]
}

// KnowsOpenings reports whether a model is the one whose continuations were checked:
// only of that may a page say what it is good at.
func KnowsOpenings(m *infer.Model) bool { return m.Hash() == openingsModel }

// openingsModel is the hash of the bundled model.
const openingsModel = "9d2b8b9d2aff36956dc9d9c2850cd304846155fb1b60c7b4e83c4a82ace035ef"
