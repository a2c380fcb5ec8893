// Package tab is the program without a server: it runs in a service worker of the visitor's browser
// and serves the requests and live parts of the pages.
//
// A static site (web/site) contains the pages as a new visitor sees them, the program as
// WebAssembly, and the models. Once the program is running, the worker passes it every request from
// the site's pages: links, forms and fetches work as they do on a server, and so do the responses
// ([Door]). Only sockets cannot pass through a service worker, so a page's connection is a message
// port instead (web/wire).
//
// The site can be at any path of its host, while the program's addresses begin at the root. Only
// [Rebase] deals with this difference: it moves the addresses in pages and panels below the site's
// own path.
//
// Learners' data is stored in the browser, by a journal over IndexedDB. There are no classes,
// because classes need a server that others can reach.
package tab
