// Package cluster joins several servers by NATS, so that they serve the same learners
// and classes: it is what web/class and web/journal ask of a network.
//
// # What is where
//
// The logs of learners and classes are in JetStream ([Cluster.Journal], which is
// web/journal/stream). So are the hashes of instructors' secrets, as a record of the
// room's log, and the leases, in a bucket of keys and values (viz_leases). Everything
// else travels over plain NATS and may get lost: views of rooms (viz.room.CODE) and
// requests to one server (viz.server.NAME).
//
// # Leases
//
// Every server has one session, a key that it renews six times in the life of a lease
// ([Config.Life]). A room's key names the server that owns it, and the session under
// which it took the room. So a server with a thousand rooms renews one key.
//
// No clock is compared with another one. A server counts its session as lost when half
// a life has passed, at its own place, since it sent the newest renewal that was
// confirmed. The others count it as over when they have seen the same revision of its
// key for a whole life, or for a little over half a life if NATS says that nobody is
// there under the server's name. Before a room is taken from it, the session is ended by a
// message that is conditioned on that revision, so a renewal that was under way and the
// end of the session cannot both succeed.
//
// A lease only says who should run a room. Who may append to its log is decided by the
// log: see [class.Fence] and [stream.Journal.AppendAs].
//
// # Messages
//
// NATS takes messages of a megabyte by default; a view or an answer can have four. What
// is larger than a part is sent in parts, which are put together within the limits of
// [class.MaxReply]. What is no message of this package, or too long, is dropped.
package cluster
