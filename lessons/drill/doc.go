// Package drill sets small problems to be worked by hand, and says of each
// answer whether it is right and, if it is not, which mistake was made.
//
// [New] makes a [Problem] of a kind, a seed and a level; the same three always
// give the same numbers. A problem has steps, a step has a table, and some of
// the table's places are cells to be filled. Each cell is checked alone by
// [Problem.Check], from what the learner typed and nothing else:
//
//  1. The text is read: '0,632', '.632', '63.2%', '1/3', '2 GiB'. What it was
//     understood as is part of the answer ([Read]). Text and infinities are
//     refused in a sentence and cost nothing.
//  2. It is compared with the right values. There may be several, since people
//     round on the way: the exact value, and what follows from probabilities
//     that were first rounded to three places.
//  3. Only if none fits, it is compared with what known mistakes lead to. The
//     nearest wins. So a right answer is never called a mistake.
//
// The right values come from the engine's own functions: infer/sampling,
// infer/cost. So a learner is graded by what the program itself does. The
// values of the mistakes are computed beside them, from the same numbers.
//
// The numbers are chosen so that no cell is a matter of luck: probabilities
// keep clear of the border of the nucleus, of each other, and of the halves
// where two ways of rounding part ([New] draws until all that holds).
//
// Nothing here knows of pages, clocks or storage.
package drill
