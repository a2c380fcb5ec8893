// Package store keeps what must outlive the process in one SQLite file: a
// folder holds viz.db, the secret that signs cookies, and a lock.
//
// [Open] makes sure that the folder is used by one process alone, looks the
// database over before anything writes to it, and brings it to the newest
// schema. What it cannot read is never overwritten: a damaged file is moved
// aside under a dated name and a new one is begun, with a [Notice] that says
// so; a database that a newer program has written, or another program
// altogether, is refused and left as it is.
//
// There is one connection that writes, so that writers queue in this process
// and never meet SQLITE_BUSY, and a few that read. With a write-ahead log
// readers see the last commit and wait for nobody. A transaction that
// [DB.Write] has confirmed is on the disk: it survives the end of this process
// at any moment, kill -9 included, and a power cut, as far as the disk keeps
// its word. Waiting for the disk at each commit (synchronous=FULL) costs some
// milliseconds, so what many write at the same time goes into one commit; see
// web/journal.
//
// The package knows tables but not what is in them: schema.go lists the
// migrations. Nearly all that is kept is logs, which web/journal writes and
// reads; what is no event (notices about the data itself, the hashes of
// secrets) has tables of its own. A database of an earlier form is copied
// before it is changed (copies.go), and carried over by the rooms that know what
// it holds. It is plain SQLite and can be looked at with any tool while the
// server is down.
package store
