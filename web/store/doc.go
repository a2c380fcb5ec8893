// Package store keeps data that must outlive the process in one SQLite file. A data folder
// contains viz.db, the secret that signs cookies, and a lock.
//
// [Open] makes sure that no other process uses the folder, checks the database before
// anything writes to it, and upgrades it to the newest schema. Unreadable data is never
// overwritten: a damaged file is moved aside under a dated name, and the readable rows are
// copied into a new one (salvage.go), with a [Notice] about it. Rows that contradict others
// are set aside in the database (rows.go, logs.go, rows_aside.go). A database of a newer
// version, or of another program, is refused and left unchanged.
//
// One connection writes, so that writers queue in this process and never get SQLITE_BUSY,
// and a few read. With a write-ahead log, readers see the last commit and never wait. A
// transaction that [DB.Write] has confirmed is on the disk: it survives kill -9 at any
// moment, and a power failure if the disk does what it promises. Waiting for the disk at
// each commit (synchronous=FULL) costs a few milliseconds, so concurrent writes share
// commits; see web/journal.
//
// The package defines the tables, but not their contents: schema.go lists the migrations.
// Nearly everything is in logs, which web/journal writes and reads. Notices about the data
// itself and the hashes of secrets are not events, and have their own tables. A database in
// an earlier format is copied before it is changed (copies.go), and migrated by the
// packages that define its contents. It is plain SQLite and can be inspected with any tool
// while the server is down.
package store
