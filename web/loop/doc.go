// Package loop implements the Loop: its page, the updates sent to the page, links to it and
// exported files.
//
// [NewPage] builds the model of the whole page from a state, and [PageHTML] renders it, both using
// package stage. [Panels] lists the parts of the page that are sent again when they have changed.
// Every panel renders exactly one element, with the panel's id. Generated tokens are sent one by
// one, and everything outside of the panels (above all, every input) belongs to the page and is
// never replaced.
//
// [Server] handles the addresses: the page with or without a run, links, exports and the storybook,
// which shows every state. Package runs holds the runs. Pages open the live part as viz.html.v1 and
// programs as viz.json.v1. An encoder turns a state into the changes since the last message on its
// connection: panels of HTML for pages, typed stages for programs.
package loop
