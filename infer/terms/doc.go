// Package terms says things as people read them: numbers, sizes, times, prices
// and counts of things. Pages, lessons, charts and the terminal write them
// alike because all of them ask here. It imports nothing of the program.
package terms
