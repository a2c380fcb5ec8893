// Package why implements the page 'Why this token?'. It shows the score of the model's next token
// as the sum of the contributions of all parts. Every part is a button that switches the part off
// and reruns the model without it. The page also shows what the model would have predicted before
// the first block and after each block.
//
// The page's address contains its whole state: the text and the parts that are off. The page
// therefore needs no script, a link reproduces it exactly, and the server stores nothing. The
// script only replaces the part of the page that changes.
package why
