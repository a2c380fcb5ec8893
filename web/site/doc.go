// Package site builds a static site with the program: a folder that any web server can serve, under
// any path.
//
// Its pages are the pages of the server (package web) as a new visitor would see them, adapted to
// the site's address (web/tab). Its program is the same server, built for WebAssembly. A service
// worker runs it in the visitor's browser (worker/worker.js). Since this is a service worker rather
// than a worker for each page, nothing else has to change: links, forms and fetches reach the
// program as they would reach a server, all pages in all tabs share it, and it keeps running from
// one page to the next.
//
// Builds are reproducible for a given program, models and version of Go.
package site
