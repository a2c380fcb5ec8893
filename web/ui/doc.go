// Package ui lays out the pages: templ components over the models of package
// view, and nothing but layout.
//
// [Shell] is the frame of every page: head, header, navigation, list of keys.
// [LoopPage] is the Loop page, whole. [Panels] are the parts of it that the server
// sends again when they have changed; every panel renders exactly one element,
// whose id is the panel's. Generated tokens go one by one ([StripToken] into
// [StripGen]), and what lies outside of the panels (every input, above all)
// belongs to the page and is never replaced.
//
// Sizes and positions are SVG attributes, since the page's security policy
// forbids style attributes and scripts within the markup.
package ui
