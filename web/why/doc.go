// Package why has the page 'Why this token?': the score of the model's next token as
// a sum of what each of its parts adds, with every part a button that switches it off
// and lets the rest run again; and what the model would have said at each height.
//
// All of the page's state is its address: the text and what is off. So it needs no
// script, a link opens it as it is, and nothing is held on the server; the script only
// replaces the part of the page that changes.
package why
