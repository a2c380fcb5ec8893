package class

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	_ "modernc.org/sqlite" // to damage a database
)

// TestDamagedDatabaseIsMigrated: everything readable in a damaged old-format database is
// moved. A damaged header or one absurd row does not make a room unreadable.
func TestDamagedDatabaseIsMigrated(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(t *testing.T, path string, code string){
		"the header": func(t *testing.T, path, _ string) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			clear(data[:100])
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"rows": func(t *testing.T, path, code string) {
			conn, err := sql.Open("sqlite", "file:"+filepath.ToSlash(path))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			for _, query := range []string{
				"INSERT INTO room_members VALUES (?, 30000003, 'x', 'X', 0, 0)",
				"INSERT INTO room_texts VALUES ('NOROOM', -1, ?, 'x')",
				"INSERT INTO room_polls VALUES (?, 30000003, '{\"id\":30000003,\"round\":1}')",
				"INSERT INTO room_polls VALUES (?, 30000004, 'not JSON')",
				"INSERT INTO room_votes VALUES (?, 30000003, -1, 30000003, 'x', 7, 7, -1)",
				"UPDATE rooms SET seq = -5 WHERE code = ?",
			} {
				if _, err := conn.Exec("PRAGMA foreign_keys = 0; "+query, code); err != nil {
					t.Fatalf("%s: %v", query, err)
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, was := oldFolder(t)
			damage(t, filepath.Join(dir, "viz.db"), was[0].Code)
			carryOver(t, dir)
			s := begunAfter(t, dir)
			if n := len(s.all()); n != len(was) {
				t.Fatalf("there are %d rooms, want %d", n, len(was))
			}
			for _, w := range was {
				now, err := get(t.Context(), s.find(w.Code), func(c *core) (wasRoom, error) { return known(c), nil })
				if err != nil {
					t.Fatal(err)
				}
				if len(now.Members) != len(w.Members) || len(now.Polls) != len(w.Polls) ||
					len(now.Votes) != len(w.Votes) || len(now.Texts) != len(w.Texts) {
					t.Errorf("room %s has %d members, %d polls, %d votes, want %d, %d and %d", w.Code, len(now.Members),
						len(now.Polls), len(now.Votes), len(w.Members), len(w.Polls), len(w.Votes))
				}
			}
		})
	}
}
