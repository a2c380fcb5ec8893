// Package store stores the data that must outlive the process in a single SQLite file. A data
// folder contains this file, viz.db, as well as the secret that signs cookies and a lock.
//
// [Open] makes sure that no other process uses the folder, and checks the database before anything
// is written to it. Unreadable data is never overwritten. A damaged file is moved aside under a
// dated name. A new file is filled with the rows of the newest copy (copies.go) and with all rows
// that can be read (salvage.go), and a [Notice] reports what happened. Rows that contradict other
// rows are set aside within the database (rows.go, logs.go, rows_aside.go). A database of another
// version or of another program is refused and left unchanged.
//
// One connection is used for writing, so that writers queue in this process and never get
// SQLITE_BUSY, and a few are used for reading. With a write-ahead log, readers see the last commit
// and never wait. A transaction that [DB.Write] has confirmed is on disk: it survives kill -9 at
// any moment, and also a power failure, unless the disk confirms writes too early. Waiting for the
// disk at each commit (synchronous=FULL) costs a few milliseconds, so concurrent writes share
// commits; see web/journal.
//
// The package defines the tables (schema.go), but not their contents. Nearly all data is stored in
// logs, which web/journal writes and reads. Notices about the data itself and the hashes of secrets
// are not events, and have their own tables. The database is plain SQLite, so it can be inspected
// with any SQLite tool while the server is down.
package store
