// Package records defines the log of a room: its records, and the state into which they fold.
//
// A room is saved as a log of events (web/journal). Except for votes, a record's id is the number of
// the change, and for each subject only the newest record counts; [Book] tracks which records are
// superseded. [Folding] computes the [State] of a room from its log. It treats invalid records as
// damaged, so commands operate only on valid data. In a cluster, the log also has the hash of the
// instructor's secret; a single server stores the hashes separately ([Secrets]).
//
// Nothing here runs a room: [List] and [CopyRoom] work on the logs of rooms that no server runs.
package records
