// Package terms formats values for people: numbers, sizes, times, prices, counts, tables for
// spreadsheets ([Sheet]) and text for a terminal ([Terminal]). All pages, lessons, charts and
// commands use this package, so they format values in the same way. It does not import any of the
// program's other packages.
package terms
