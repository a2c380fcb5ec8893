// Package loop is the Loop page: its model and its components over those of
// package stage, and the storybook, which shows every state of it.
//
// [NewPage] makes the whole page's model of a state, and [PageHTML] draws it.
// [Panels] are the parts of it that the server sends again when they have
// changed; every panel renders exactly one element, whose id is the panel's.
// Generated tokens go one by one, and what lies outside of the panels (every
// input, above all) belongs to the page and is never replaced.
package loop
