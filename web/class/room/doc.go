// Package room runs the rooms of classes.
//
// A [Hub] manages the rooms. Each room has one goroutine that owns its state, the core: people,
// questions, the scene on the stage, the logbook and the display. All other goroutines send it
// requests and read the newest [class.View], which is published through an atomic pointer. The
// instructor's secret is stored only as a hash and checked with every command.
//
// The room's goroutine never waits for a forward pass of the [class.Run]. Commands that move the run
// are executed in the goroutines of their senders, one at a time.
//
// Nothing is confirmed before it is saved. Except for the instructor's secret, a room is saved as a
// log of events (package records). Votes that arrive within twenty milliseconds are appended
// together, before [class.Room.Vote] returns. A member's votes have increasing numbers, so resent
// and late votes have no effect. Nicknames are in separate records and are erased from the disk when
// they are removed. After a restart, the hub restores all rooms. It reopens a room's run from a link
// when someone returns to the room.
//
// A [Hub] finds rooms in a [Directory]. On a single server, all rooms run here ([Local]). In a
// cluster, package remote finds rooms on other servers, too. A room accesses the cluster only
// through its [Host], which appends records and passes on views.
//
// The files form layers, and each uses only lower ones: the state and what can be read from it
// (core.go, query.go); its log (keep.go, tidy.go, snapshot.go); its changes (change.go and one file
// for each subject); the goroutine (loop.go, local.go); what others ask of it (execute.go,
// requests.go); the hub.
package room
