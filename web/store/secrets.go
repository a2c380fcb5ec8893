package store

import (
	"context"
	"database/sql"
)

// KeepSecret stores the hash of a room's secret.
func (db *DB) KeepSecret(ctx context.Context, room string, hash []byte) error {
	return db.Write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO room_secrets (room, hash) VALUES (?, ?)
			ON CONFLICT (room) DO UPDATE SET hash = excluded.hash`, room, hash)
		return err
	})
}

// Secrets returns the hashes of the secrets of all rooms.
func (db *DB) Secrets(ctx context.Context) (hashes map[string][]byte, err error) {
	err = db.Read(ctx, func(tx *sql.Tx) error {
		hashes = map[string][]byte{}
		return EachRow(ctx, tx, "SELECT room, hash FROM room_secrets", func(scan func(...any) error) error {
			var room string
			var hash []byte
			err := scan(&room, &hash)
			hashes[room] = hash
			return err
		})
	})
	return hashes, err
}

// DropSecret deletes the secret of a room and removes it from the disk.
func (db *DB) DropSecret(ctx context.Context, room string) error {
	if err := db.Write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM room_secrets WHERE room = ?", room)
		return err
	}); err != nil {
		return err
	}
	return db.Scrub(ctx)
}
