// Package labs serves the pages of the labs, which measure what the lessons claim.
//
// A lab of package infer/lab defines its question and its inputs; this package turns it into a
// page. The page first asks for a prediction, states what a large run would cost before it begins,
// and shows the run in progress. Then it compares the prediction with the measurement. It shows
// charts from package plots, each with a table of its numbers, offers the raw rows as CSV, and
// states what the measurement includes and how noisy it was. A link opens the same settings
// elsewhere.
//
// Pages work without scripts: the form is a GET request, and its response is a complete page with
// everything that could be measured within the time limit for a page. With scripts, the same form
// uses a feed ([Pages.Feeds]), which adds progress, canceling, and results that change with the
// controls.
//
// Times would be worthless if two measurements ran concurrently, so a server runs one at a time
// ([admission.Queue]). Waiting users see how many others are ahead of them.
package labs
