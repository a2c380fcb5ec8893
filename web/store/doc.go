// Package store keeps what must outlive the process in one SQLite file. A data
// folder has viz.db, the secret that signs cookies, and a lock.
//
// [Open] makes sure that no other process uses the folder, checks the database
// before anything writes to it, and upgrades it to the newest schema. What it
// cannot read is never overwritten: a damaged file is moved aside under a dated
// name, and the rows that can be read are copied into a new one (salvage.go), with a
// [Notice] that says so. Rows that contradict others are set aside in the database
// (rows.go, logs.go, rows_aside.go). A database written by a newer program, or by another
// program altogether, is refused and left as it is.
//
// One connection writes, so that writers queue in this process and never get
// SQLITE_BUSY, and a few read. With a write-ahead log, readers see the last
// commit and never wait. A transaction that [DB.Write] has confirmed is on the
// disk: it survives kill -9 at any moment, and a power cut if the disk does what
// it promises. Waiting for the disk at each commit (synchronous=FULL) costs a few
// milliseconds, so concurrent writes share commits; see web/journal.
//
// The package knows the tables but not what is in them: schema.go lists the
// migrations. Nearly everything is in logs, which web/journal writes and reads.
// Notices about the data itself and the hashes of secrets are not events, and
// have tables of their own. A database of an earlier form is copied before it is
// changed (copies.go), and carried over by the packages that know what is in it.
// It is plain SQLite and can be inspected with any tool while the server is down.
package store
