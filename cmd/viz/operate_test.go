package main

import (
	"database/sql"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/load"
)

// listedRooms returns the rooms that viz rooms lists, keyed by code.
func listedRooms(t *testing.T, dir string) map[string]roomObject {
	t.Helper()
	return roomsIn(t, ok(t, "rooms", "-data", dir, "-json"))
}

// roomsIn parses the output of viz rooms -json and returns the rooms, keyed by code.
func roomsIn(t *testing.T, printed string) map[string]roomObject {
	t.Helper()
	var got struct{ Rooms []roomObject }
	if err := json.Unmarshal([]byte(printed), &got); err != nil {
		t.Fatal(err)
	}
	all := map[string]roomObject{}
	for _, r := range got.Rooms {
		all[r.Code] = r
	}
	return all
}

// class creates a room with one member, who has disconnected.
func (s *served) class(t *testing.T) (code string) {
	t.Helper()
	instructor, err := load.NewInstructor(t.Context(), s.url)
	if err != nil {
		t.Fatal(err)
	}
	p := &load.Phone{URL: s.url, Code: instructor.Code}
	if err := p.Dial(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Say("join", map[string]any{"nick": "Ada"}); err != nil {
		t.Fatal(err)
	}
	browser.Eventually(t, func() bool { return listedRooms(t, s.dir)[instructor.Code].Members == 1 })
	p.HangUp()
	return instructor.Code
}

// serveFolder runs a server on a data folder.
func serveFolder(t *testing.T, dir string) *served {
	t.Helper()
	s := start(t, "-addr", "127.0.0.1:0", "-no-open", "-data", dir)
	s.out.wait(t, "Ctrl-C")
	s.dir = dir
	return s
}

// TestRoomsCommand lists, closes and removes rooms, first while a server has them open and then
// without a server.
// Promise: `viz rooms` lists, closes and removes rooms, whether or not a server runs.
func TestRoomsCommand(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := serveFolder(t, dir)
	first, second, third := s.class(t), s.class(t), s.class(t)
	if text := ok(t, "rooms", "-data", dir); !strings.Contains(text, "3 rooms") ||
		!strings.Contains(text, first+"     Load, open, last used ") || !strings.Contains(text, "1 member, 0 polls") {
		t.Errorf(
			"got the list\n%s\nwant it to contain %q, %q and %q", text, "3 rooms", first+"     Load, open, last used ",
			"1 member, 0 polls",
		)
	}

	if got := ok(t, "rooms", "close", "-data", dir, strings.ToLower(first)); got != "Room "+first+" is now closed.\n" {
		t.Errorf("printed %q, want %q", got, "Room "+first+" is now closed.\n")
	}
	if status, body := get(t, s.url+"/class/"+first); !strings.Contains(body, "over") {
		t.Errorf("a closed room's page: %d, %s, want it to contain %q", status, body, "over")
	}
	if got := ok(t, "rooms", "remove", second, "-data", dir); got != "Room "+second+" was removed.\n" {
		t.Errorf("printed %q, want %q", got, "Room "+second+" was removed.\n")
	}
	f := try(t, nil, "", "rooms", "remove", "-data", dir, second)
	if f.code != exitFailed || !strings.Contains(f.errors, "No room has this code") {
		t.Errorf(
			"a room that is already gone: exit %d, %q; want %d with %q", f.code, f.errors, exitFailed,
			"No room has this code",
		)
	}
	check := func() {
		t.Helper()
		all := listedRooms(t, dir)
		if _, there := all[second]; len(all) != 2 || there || !all[first].Ended || all[third].Ended {
			t.Errorf(
				"rooms: %+v, want 2 elements, there = false, all[first].Ended = true, all[third].Ended = false", all,
			)
		}
	}
	check()
	if code := s.end(); code != exitDone || s.errors.String() != "" {
		t.Fatalf("exit %d: %s; want %d, no output", code, s.errors, exitDone)
	}
	check()

	ok(t, "rooms", "close", "-data", dir, third)
	ok(t, "rooms", "remove", "-data", dir, first)
	if all := listedRooms(t, dir); len(all) != 1 || !all[third].Ended || all[third].Members != 1 {
		t.Errorf("without a server: got %+v, want 1 element, all[third].Ended = true, all[third].Members = 1", all)
	}
	s = serveFolder(t, dir)
	if _, body := get(t, s.url+"/class/"+third); !strings.Contains(body, "over") {
		t.Error("the server did not notice that the class is over")
	}
	s.end()
}

// TestClosingADamagedRoomFails: closing a damaged room fails with a message that explains why and
// what to do instead, with and without a running server.
func TestClosingADamagedRoomFails(t *testing.T) {
	from, dir := t.TempDir(), t.TempDir()
	s := serveFolder(t, from)
	code := s.class(t)
	s.end()
	changed(t, from, dir, "DELETE FROM room_secrets")
	refused := func(when string) {
		t.Helper()
		f := try(t, nil, "", "rooms", "close", "-data", dir, code)
		if f.code != exitFailed || !strings.Contains(f.errors, "Room "+code+" is damaged") ||
			!strings.Contains(f.errors, "viz rooms remove "+code) {
			t.Errorf(
				"%s: exit %d, %q; want %d with %q and %q", when, f.code, f.errors, exitFailed,
				"Room "+code+" is damaged", "viz rooms remove "+code,
			)
		}
		if r, there := listedRooms(t, dir)[code]; !there || r.Fault == "" {
			t.Errorf("%s: the room is %+v; want it still there, Fault not empty", when, r)
		}
	}
	refused("without a server")
	s = serveFolder(t, dir)
	refused("with a server")
	ok(t, "rooms", "remove", "-data", dir, code)
	if all := listedRooms(t, dir); len(all) != 0 {
		t.Errorf("rooms left: %+v, want 0 elements", all)
	}
	s.end()
}

// TestControlSocketIsPrivate: other users cannot reach the control socket, a socket that a killed
// server left behind is replaced, and commands report missing data.
// Promise: Only the server's own user can reach its control socket.
func TestControlSocketIsPrivate(t *testing.T) {
	dir := t.TempDir()
	s := serveFolder(t, dir)
	code := s.class(t)
	if runtime.GOOS != "windows" {
		for name, want := range map[string]os.FileMode{controlFolder: 0o700, controlFolder + "/" + controlName: 0o600} {
			if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != want {
				t.Errorf("%s: %v, %v; want %v", name, info, err, want)
			}
		}
	}
	s.end()
	if err := os.WriteFile(controlPath(dir), nil, 0o600); err != nil { // left by a killed server
		t.Fatal(err)
	}
	ok(t, "rooms", "close", "-data", dir, code)
	s = serveFolder(t, dir)
	ok(t, "rooms", "remove", "-data", dir, code)
	if err := os.Remove(controlPath(dir)); err != nil {
		t.Fatal(err)
	}
	f := try(t, nil, "", "rooms", "remove", "-data", dir, code)
	if f.code != exitFailed || !strings.Contains(f.errors, "in use by another viz") ||
		!strings.Contains(f.errors, "instructor's page") {
		t.Errorf("without its socket: exit %d, %q", f.code, f.errors)
	}
	s.end()
	for _, args := range [][]string{
		{"rooms"}, {"rooms", "close", code}, {"check"}, {"backup", filepath.Join(dir, "b")},
	} {
		empty := t.TempDir()
		f := try(t, nil, "", append(args, "-data", empty)...)
		if left, err := os.ReadDir(empty); f.code != exitFailed || !strings.Contains(f.errors, "no ") || len(left) > 0 {
			t.Errorf("viz %q without data: exit %d, %q; left %v, %v", args, f.code, f.errors, left, err)
		}
	}
}

// changed copies the database of a folder to another folder and runs a query on the copy.
func changed(t *testing.T, from, to, query string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(from, "viz.db"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(to, "viz.db")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(query); err != nil {
		t.Error(err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

// TestCheckCommand runs viz check on undamaged data and on a model that runs, and then on an
// unreadable record, a broken reference, damaged pages and a model that does not run.
// Promise: `viz check` finds damaged data, and a model that does not run.
func TestCheckCommand(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := serveFolder(t, dir)
	s.class(t)
	read := func(f finished) (c checked) {
		t.Helper()
		if err := json.Unmarshal([]byte(f.out), &c); err != nil {
			t.Fatalf("%v: %q, %q", err, f.out, f.errors)
		}
		return c
	}
	f := try(t, nil, "", "check", "-data", dir, "-json")
	if c := read(f); f.code != exitDone || !c.Database.Sound || !c.Model.Runs || c.Database.Rooms.Logs != 1 ||
		c.Database.Rooms.Records < 4 || len(c.Database.Faults)+len(c.Model.Reasons) > 0 {
		t.Errorf(
			"while a server runs: exit %d, %+v; want f.code = %d, Database.Sound = true, Model.Runs = "+
				"true, Database.Rooms.Logs = 1, Database.Rooms.Records at least 4, "+
				"len(c.Database.Faults)+len(c.Model.Reasons) = 0",
			f.code, c, exitDone,
		)
	}
	s.end()
	for _, c := range []struct{ name, change, want string }{
		{"an unreadable record", "UPDATE records SET data = '{' WHERE type = 'data'", "1 record in the logs of rooms"},
		{"a record too many", "UPDATE owners SET records = records - 1", "wrong number of records"},
		{"a lost secret", "DELETE FROM room_secrets", "secret is missing"},
		{"a broken reference", "PRAGMA foreign_keys = 0; DELETE FROM owners", "a missing row"},
	} {
		damaged := t.TempDir()
		changed(t, dir, damaged, c.change)
		f := try(t, nil, "", "check", "-data", damaged, "-json")
		if got := read(f); f.code != exitUsage || got.Database.Sound ||
			!strings.Contains(strings.Join(got.Database.Faults, "\n"), c.want) {
			t.Errorf(
				"%s: got exit code %d, %+v; want %d and a database with the fault %q", c.name, f.code, got, exitUsage,
				c.want,
			)
		}
	}
	path := filepath.Join(dir, "viz.db")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 4096; i < len(data); i++ {
		data[i] = 0xff
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	model, err := os.ReadFile(filepath.Join(modelsFolder, "llama-q8_0.gguf"))
	if err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(t.TempDir(), "cut.gguf")
	if err := os.WriteFile(cut, model[:len(model)-100], 0o600); err != nil {
		t.Fatal(err)
	}
	f = try(t, nil, "", "check", "-data", dir, "-model", cut)
	if f.code != exitUsage || !strings.Contains(f.out, "\nintact     no, for ") ||
		!strings.Contains(f.out, "\nruns       no, for 1 reason:\n") {
		t.Errorf(
			"damaged pages and a truncated model: exit %d\n%s%s\nwant %d with %q and %q", f.code, f.out,
			f.errors, exitUsage, "\nintact     no, for ", "\nruns       no, for 1 reason:\n",
		)
	}
}

// TestBackupCommand: a copy that is made while the server runs contains all confirmed data, is
// private, overwrites nothing, and can be restored.
// Promise: `viz backup` makes a private copy while the server runs, overwrites no file, and can be restored.
func TestBackupCommand(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := serveFolder(t, dir)
	code := s.class(t)
	file := filepath.Join(t.TempDir(), "copy.db")
	if text := ok(t, "backup", "-data", dir, file); !strings.Contains(text, file) {
		t.Errorf("printed %q, want it to contain %q", text, file)
	}
	info, err := os.Stat(file)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the copy: got %v, %v; want a file that only its owner can read, <nil>", info, err)
	}
	f := try(t, nil, "", "backup", file, "-data", dir)
	if again, err := os.Stat(file); f.code != exitFailed || !strings.Contains(f.errors, "already exists") ||
		err != nil || again.ModTime() != info.ModTime() {
		t.Errorf(
			"a second copy of that name: got exit code %d, %q; want %d, and the first copy unchanged", f.code, f.errors,
			exitFailed,
		)
	}
	if left, err := os.ReadDir(filepath.Dir(file)); err != nil || len(left) != 1 {
		t.Errorf("next to the copy: got %v, %v; want 1 element, <nil>", left, err)
	}
	ok(t, "rooms", "remove", "-data", dir, code)
	s.end()

	restored := t.TempDir()
	if err := errors.Join(
		os.Rename(file, filepath.Join(restored, "viz.db")),
		os.Rename(filepath.Join(dir, "cookie-secret"), filepath.Join(restored, "cookie-secret")),
	); err != nil {
		t.Fatal(err)
	}
	s = serveFolder(t, restored)
	if all := listedRooms(t, restored); len(all) != 1 || all[code].Members != 1 {
		t.Errorf("restored: %+v, want 1 element, all[code].Members = 1", all)
	}
	if status, _ := get(t, s.url+"/class/"+code); status != http.StatusOK {
		t.Errorf("the restored room's page: got %d, want %d", status, http.StatusOK)
	}
	if code := s.end(); code != exitDone || s.errors.String() != "" {
		t.Errorf("exit %d: %s; want %d, no output", code, s.errors, exitDone)
	}
}
