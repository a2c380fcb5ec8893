// Package terms formats values for people: numbers, sizes, times, prices and counts of
// things, a table for spreadsheets ([Sheet]), text for a terminal ([Terminal]). All pages,
// lessons, charts and the terminal use it, so they format values alike. It imports no other
// package of the program.
package terms
