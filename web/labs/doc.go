// Package labs is the pages of the labs: what the lessons claim, measured here
// and now.
//
// A lab of package infer/lab states its question and its parameters; this room
// makes a page of it. The page asks for a prediction first, says what a large
// run would take before it begins, shows the run as it goes, and then lays the
// prediction beside what was measured: charts from package plots, each with its
// numbers as a table, the raw rows as CSV, what the measurement includes and
// how noisy it was, and a link that brings someone else to the same settings.
//
// Pages work without a script: the form is a GET, and its answer is a whole page
// with what could be measured within a page's time. Where there is a script the
// same form speaks with a feed ([Pages.Feeds]): progress, cancelling, and results
// that follow the controls.
//
// Times of one measurement would be worthless if another ran beside it, so a
// server makes one at a time ([queue]); who waits is told how many are before
// them.
package labs
