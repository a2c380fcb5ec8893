//go:build !js

// Command tab is the program that runs in a browser: see package web/tab. make site
// builds it for js/wasm and puts it into a static site.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "This program runs only in a browser. Run make site to build it together with its site.")
	os.Exit(2)
}
