// Package class implements classes: one person drives the live model, everybody
// else follows on a screen of their own, predicts, votes and becomes the sampler.
//
// A [Hub] keeps the [Room]s. Joining a room needs a code of six characters;
// driving it needs a secret of 128 bits, which is independent of the code, stored
// only as a hash and checked with every command. Each room has one goroutine that
// owns its state: members, polls, votes, the step of a walkthrough. Everybody else
// sends it a request and reads the newest [View], which is immutable, has a
// sequence number and is published through an atomic pointer. A [Broker] notifies
// followers without waiting for them: a slow one skips views and sees the newest.
//
// The model runs elsewhere: a [Driver] gives the room a [Run], one for all its
// followers, and the room's goroutine never waits for a forward pass. Commands that
// move the run are executed one at a time by their senders.
//
// Nothing is confirmed before it is saved. Except for the instructor's secret, a
// room is saved as a log of events (web/journal; log.go lists them). Votes that
// arrive within twenty milliseconds are appended together, before [Room.Vote]
// returns. Each has a number that grows with every change of mind, so a vote that
// is sent again, or arrives late, changes nothing. Nicknames are in records of
// their own and are erased from the disk when they are removed. After a restart the
// hub knows every room, and makes its run again from a link when someone returns.
//
// What a person typed (a nickname, a number) is always text, never markup.
package class
