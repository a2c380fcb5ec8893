// Package terms writes things as people read them: numbers, sizes, times,
// prices and counts of things. Pages, lessons, charts and the terminal write
// them alike because all of them use it. It imports nothing of the program.
package terms
