// Package tab is the program without a server: in a service worker of a page's
// browser, where it answers the page's requests and its live parts.
//
// A static site (web/site) has the pages as they are for somebody new, the program as
// WebAssembly, and the models. Once the program runs, the worker gives it every request
// that a page of the site makes: links, forms and what scripts fetch all stay as they
// are on a server, and so do their answers ([Door]). Only sockets cannot pass through a
// service worker; the page's connection is a message port there (web/wire).
//
// The site lies at any path of its host, while the program's addresses begin at the
// root. [Rebase] is the one place that knows: it moves the addresses in pages and
// panels below the site's own path.
//
// What a learner does is kept in the browser, by a journal over IndexedDB. There are no
// classes: they need a server that others can reach.
package tab
