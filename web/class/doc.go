// Package class contains the values that everyone who deals with classes uses. In a class, one
// person controls the live model, and all others follow on their own screens, predict, vote and act
// as the sampler.
//
// A [Room] is one class. Joining it requires its six-character code. Controlling it requires a
// [Secret] of 128 bits, which is independent of the code. The instructor sends [Command]s, and
// everyone sees the newest [View], which is immutable and has a sequence number. A [Broker] notifies
// followers of new views without waiting for them; slow followers skip intermediate views. The model
// runs elsewhere: a [Driver] opens one [Run] for all followers of a room.
//
// Package polls has the rules of polls, moves runs a walkthrough on a run, records defines the log
// of a room, room runs rooms, and remote shares them among the servers of a cluster.
//
// User input (a nickname, a number) is always text, never markup.
package class
