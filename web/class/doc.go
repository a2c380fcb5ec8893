// Package class is a class: one person drives the live model, everybody else
// follows it on a screen of their own, predicts, votes and becomes the sampler.
//
// A [Hub] keeps the [Room]s. A room is entered with a code of six characters
// and driven with a secret of 128 bits that is apart from the code, kept only as
// a hash and checked with every command. One goroutine owns what a room knows:
// members, polls, votes, the place in a walkthrough. It alone changes them;
// everybody else sends it a request and reads the newest [View], which is
// immutable, carries a sequence number and leaves through an atomic pointer.
// That there is a new one is told through a [Broker], which waits for nobody:
// who is slow misses what lay in between and sees the newest.
//
// The model runs elsewhere: a [Driver] gives the room a [Run], one for all its
// followers, and the room's own goroutine never waits for a pass. Commands that
// move the run are carried out one after another by those who send them.
//
// Nothing is confirmed before it is kept. What is kept of a room is a log of
// events (web/journal; log.go says which), apart from the instructor's secret.
// Votes that come within twenty milliseconds are appended together
// ([Room.Vote] returns after it); each carries a number that grows with every
// change of mind, so sending it again, or late, changes nothing. Nicknames lie
// in records of their own, and leave the disk when they are taken away. After a
// restart the hub knows every room, and the run is made again from its link
// when someone comes back.
//
// What a person typed (a nickname, a number) is text here and everywhere.
package class
