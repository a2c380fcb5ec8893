// Package loop is the Loop: its page, what the page is sent afterwards, links to it
// and files to save.
//
// [NewPage] makes the whole page's model of a state, and [PageHTML] draws it, both
// over the parts of package stage. [Panels] are the parts of it that are sent again
// when they have changed; every panel renders exactly one element, whose id is the
// panel's. Generated tokens are sent one by one, and what is outside of the panels
// (every input, above all) belongs to the page and is never replaced.
//
// [Server] answers the addresses: the page with or without a run, links, exports and
// the storybook, which shows every state. The runs are those of package runs. The
// page's live part is opened by pages as viz.html.v1 and by programs as
// viz.json.v1; an encoder turns a state into what has changed since the last
// message of that connection, panels of HTML for the one, typed stages for the
// other.
package loop
