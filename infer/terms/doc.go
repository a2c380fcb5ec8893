// Package terms writes things as people read them: numbers, sizes, times, prices and
// counts of things, a table for spreadsheets ([Sheet]), text for a terminal
// ([Terminal]). Pages, lessons, charts and the terminal write them alike because all of
// them use it. It imports nothing of the program.
package terms
