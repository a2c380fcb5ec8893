// Package image runs the program for browsers (cmd/viz/tab) up to the point where it depends on the
// visitor, and takes an image of it: the module without its data, its memory, and the JavaScript
// values that it references. A browser that starts from the image does not have to initialize
// packages, unpack weights or read the course, or compile the code for these steps. These steps run
// once for all visitors, when the site is built.
//
// Wizer does the same for programs in other languages
// (https://github.com/bytecodealliance/wizer). It works for Go because a js/wasm program leaves
// nothing on WebAssembly's own stack while it waits: its whole state is in its memory and eight
// global variables.
//
// The program runs in wazero, in a simulated environment that has only the few parts of a browser's
// worker that the program uses up to that point. Using any other part is an error, because it could
// differ between visitors. The clock and the random numbers are the same in every run, and so is
// the image.
package image
