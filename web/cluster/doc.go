// Package cluster connects several servers over NATS, so that they serve the same learners
// and classes. It implements the network interfaces of web/class and web/journal.
//
// # Where data is stored
//
// The logs of learners and classes are in JetStream ([Cluster.Journal], which is
// web/journal/stream). So are the hashes of instructors' secrets, as a record of the room's
// log, and the leases, in a key-value bucket (viz_leases). Everything else is sent over
// plain NATS and can get lost: views of rooms (viz.room.CODE) and requests to one server
// (viz.server.NAME).
//
// # Leases
//
// Every server has one session, a key that it renews six times in the lifetime of a lease
// ([Config.Life]). A room's key names the server that owns it, and the session under which
// it took the room. So a server with a thousand rooms renews one key.
//
// Clocks are never compared. A server counts its session as lost when half a lease lifetime
// has passed on its own clock since it sent its last confirmed renewal. Other servers count
// it as over when they have seen the same revision of its key for a whole lifetime, or for
// a little over half a lifetime if NATS reports no subscriber under the server's name.
// Before a room is taken from it, the session is ended by a write that requires that
// revision, so a renewal in transit and the end of the session cannot both succeed.
//
// A lease only names the server that should run a room. The log decides who may append to
// it: see [class.Fence] and [stream.Journal.AppendAs].
//
// # Messages
//
// NATS accepts messages of a megabyte by default; a view or an answer can have four. Larger
// messages are sent in parts, which are reassembled within the limits of [class.MaxReply].
// Malformed and oversized messages are dropped.
package cluster
