// Package polls contains the rules of a class's polls: how a poll is made, which ballots are valid,
// which vote of a member counts, and what everyone sees in each phase.
//
// A [Poll] contains all data of a poll; [Poll.OnScreen] returns the part that its phase reveals.
// [Votes] holds the votes of all rounds. Nothing here has a goroutine, a clock or storage: functions
// get the time, the state of the run and the votes as arguments. Package room saves polls and votes.
package polls
