// Package why implements the page 'Why this token?'. It shows the score of the model's next
// token as a sum of what each part adds, where every part is a button that switches the
// part off and reruns the rest, and what the model would have predicted at each height.
//
// The page's state is all in its address: the text and what is off. So it needs no script,
// a link reproduces it exactly, and the server stores nothing; the script only replaces the
// part of the page that changes.
package why
