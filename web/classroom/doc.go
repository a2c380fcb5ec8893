// Package classroom implements the pages of a class: the pages for making a room, presenting
// and projecting, the screen that every phone follows, and the summary after the class. The
// rooms themselves are implemented in package class; this package contains their view
// models, templates, forms and live parts.
//
// All screens of a room show the same run. Each state is rendered once for each kind of screen
// ([variant]), and all followers receive the same bytes, so five hundred phones need only one
// rendering. Data that differs between phones, such as a member's vote or draw, is sent separately.
//
// While a class is being asked which token comes next, the data sent to it does not reveal token
// probabilities or the drawn token: the server removes the answer from the stage instead of hiding
// it with CSS.
//
// Where possible, pages work without scripts. Without scripts, a follower sees the current stage on
// each reload and votes with a form, and the instructor's buttons are forms too.
package classroom
