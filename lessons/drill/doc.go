// Package drill generates small problems to work out by hand. It grades each answer and, if the
// answer is wrong, identifies the mistake.
//
// [New] generates a [Problem] from a kind, a seed and a level, which fully determine its numbers. A
// problem consists of steps. Each step has a table, and some of the table's items are cells to fill
// in. [Problem.Check] grades each cell separately, using only the learner's input:
//
//  1. The text is parsed: '0,632', '63.2%', '2 GiB', 'e^4 / (e^4 + e^3)'. The response
//     states how it was parsed ([Read]). Words and infinities are refused with an
//     explanation and do not cost points.
//  2. The number is compared with the right values. There may be several, since people
//     round intermediate results: the exact value, and the value computed from
//     probabilities that were first rounded to three places.
//  3. If no right value fits, the number is compared with the results of known mistakes,
//     and the nearest is chosen. So a right answer is never called a mistake.
//
// The right values come from the engine's own functions in infer/sampling and infer/cost, so
// learners' answers are compared with the output of the code that runs the model. The results of
// mistakes are computed from the same numbers.
//
// The numbers are chosen so that no answer depends on luck: probabilities are not close to the
// border of the nucleus, to each other, or to the halves at which two ways of rounding differ.
// [New] draws numbers until they meet all these conditions.
//
// This package is independent of pages, clocks and storage.
package drill
