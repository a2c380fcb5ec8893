// Package labs serves the pages of the labs, which measure what the lessons claim.
//
// A lab of package infer/lab defines its question and its parameters; this package turns it into
// a page. The page asks for a prediction first, states what a large run would cost before it
// begins, shows the run in progress, and then compares the prediction with the measurement:
// charts from package plots, each with its numbers as a table, the raw rows as CSV, what the
// measurement includes and how noisy it was, and a link that opens the same settings elsewhere.
//
// Pages work without scripts: the form is a GET, and its response is a whole page with what
// could be measured in the time for a page. With scripts the same form uses a feed
// ([Pages.Feeds]): progress, canceling, and results that follow the controls.
//
// Times would be worthless if two measurements ran concurrently, so a server runs one at a time
// ([admission.Queue]); waiting users see how many are ahead of them.
package labs
