// Package classroom has the pages of a class: those on which a teacher makes a
// room, presents and projects, the screen that every phone follows, and the summary
// afterwards. The rooms themselves are in package class; here are their view models,
// templates, forms and live parts.
//
// Everybody in a room looks at one run. A state of it is rendered once for each
// kind of screen ([screens]) and the bytes are shared by all who follow, so that
// five hundred phones cost one rendering. What is different from phone to phone
// (its own vote, its own draw) is not part of those bytes.
//
// While a room is asked which token comes next, nothing that is sent to anybody
// reveals how probable the tokens are or which one was drawn: the stage is veiled on
// the server, not hidden by a style.
//
// Every page works as far as it can without a script. A follower sees the
// current stage on each reload and votes by a form; the teacher's buttons are
// forms too.
package classroom
