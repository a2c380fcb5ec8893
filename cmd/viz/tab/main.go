//go:build !js

// Command tab is the program as a browser runs it: see package web/tab. Build it for
// js/wasm with make site, which puts it into a static site.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "This program runs in a browser only: make site builds it for one, and the site around it.")
	os.Exit(2)
}
