// Package image runs the program for browsers (cmd/viz/tab) up to the point from which on every
// visitor's differs, and takes an image of it: the module without its data, its memory, and
// what of its surroundings it holds on to. A browser that takes up the image there does not
// initialize packages, unpack weights and read the course once more, in code that it would
// have to compile first; the same was done once, for all visitors, when the site was made.
//
// It is what Wizer does for other languages' programs (https://github.com/bytecodealliance/wizer).
// For Go it works because a program for js/wasm leaves nothing on WebAssembly's own stack while
// it waits: all there is lies in its memory and eight global variables.
//
// The program runs in wazero, on a world of its own: the few things of a browser's worker that it
// asks for until then. It is an error for it to ask
// for anything else, since that could differ from one visitor to the next. Clock and
// randomness are the same in every run, and so is the image.
package image
