// Package site writes the program as a static site: a folder that any web server can
// send, under any path.
//
// Its pages are those of the server (web), fetched as somebody new would see them and
// moved to where the site is (web/tab). Its program is the same server again, built for
// WebAssembly, which a service worker runs in the visitor's browser (worker/worker.js).
// A service worker, and not a worker of each page, because then nothing else has to
// change: links, forms and what scripts fetch go to it like to a server, all pages of
// all tabs have one program, and it goes on from one page to the next.
//
// The same program, models and version of Go give the same bytes.
package site
