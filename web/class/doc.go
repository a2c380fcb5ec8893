// Package class implements classes: one person controls the live model, and all others
// follow on their own screens, predict, vote and act as the sampler.
//
// A [Hub] manages the [Room]s. Joining a room requires its six-character code. Controlling it
// requires a 128-bit secret, which is independent of the code, stored only as a hash and checked
// with every command. Each room has one goroutine that owns its state, the core: people, questions,
// the scene on the stage, the logbook and the display. All other goroutines send it requests and
// read the newest [View], which is immutable, has a sequence number and is published through an
// atomic pointer. A [Broker] notifies followers without waiting for them; slow followers skip
// intermediate views.
//
// The model runs elsewhere: a [Driver] opens one [Run] for all followers of the room, and
// the room's goroutine never waits for a forward pass. Commands that move the run are
// executed in the goroutines of their senders, one at a time.
//
// Nothing is confirmed before it is saved. Except for the instructor's secret, a room is saved as a
// log of events (web/journal; log.go lists them). Votes that arrive within twenty milliseconds are
// appended together, before [Room.Vote] returns. A member's votes have increasing numbers, so
// resent and late votes have no effect. Nicknames are in separate records and are erased from the
// disk when they are removed. After a restart, the hub restores all rooms. It reopens a room's run
// from a link when someone returns to the room.
//
// [Room] has two implementations: the one in local.go runs the room on this server, and the one in
// remote.go forwards requests to the server that runs the room. A single server uses only the
// first. In a cluster, a relay finds the room's owner or becomes the owner (relay.go, own.go), and
// shows the owner's views (replica.go). The core accesses this only through [host], which appends
// records and passes on views.
//
// User input (a nickname, a number) is always text, never markup.
package class
