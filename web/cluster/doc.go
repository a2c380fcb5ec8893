// Package cluster connects several servers over NATS, so that they serve the same learners
// and classes. It implements the network interfaces of web/class and web/journal.
//
// # Where data is stored
//
// The logs of learners and classes are stored in JetStream ([Cluster.Journal], implemented in
// web/journal/stream). JetStream also stores the hashes of instructors' secrets, each as a record
// of its room's log, and the leases, in a key-value bucket (viz_leases). Everything else is sent
// over plain NATS and can get lost: views of rooms (viz.room.CODE) and requests to a particular
// server (viz.server.NAME).
//
// # Leases
//
// Every server has one session, a key that it renews six times per lease lifetime ([Config.Life]).
// A room's key names the server that owns the room and the session under which the server took it.
// Even a server with a thousand rooms therefore renews only one key.
//
// Leases do not depend on synchronized clocks. A server counts its session as lost when half a
// lease lifetime has passed on its own clock since it sent its last confirmed renewal. Other
// servers count the session as over when they have seen the same revision of its key for five
// eighths of a lifetime. A quarter of a lifetime is enough if NATS has reported for a sixth of a
// lifetime that nobody subscribes under the server's name. Before a room is taken from a server,
// its session is ended by a write that requires that revision, so a renewal in transit and the end
// of the session cannot both succeed.
//
// A lease only names the server that should run a room. The room's log determines who may
// append to it: see [remote.Fence] and [stream.Journal.AppendAs].
//
// # Messages
//
// By default, NATS accepts messages of up to one megabyte, while a view or a reply can be as
// large as four megabytes. Longer messages are sent in parts, which are reassembled up to a
// length of [remote.MaxReply]. Malformed and oversized messages are dropped.
package cluster
