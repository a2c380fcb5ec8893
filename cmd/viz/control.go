package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tokenbytoken/viz/web/class/room"
	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/store"
)

// A running server has exclusive use of its data folder. Other commands of this program send their
// requests to the server over a socket in that folder. The socket is in its own folder, which only
// the user who runs the server may enter, so that no other user can reach it between its creation
// and a change of its permissions.
const (
	controlFolder = "control"
	controlName   = "socket"
	controlTime   = time.Minute // for one request: a deletion rewrites the database
)

// The requests that change a room.
const (
	closeVerb  = "close"
	removeVerb = "remove"
)

func controlPath(dir string) string { return filepath.Join(dir, controlFolder, controlName) }

// roomKeeper closes and removes rooms: a running [web.Server], or a [room.Hub].
type roomKeeper interface {
	EndRoom(ctx context.Context, code string) error
	RemoveRoom(ctx context.Context, code string) error
}

func change(ctx context.Context, rooms roomKeeper, verb, code string) error {
	if verb == removeVerb {
		return rooms.RemoveRoom(ctx, code)
	}
	return rooms.EndRoom(ctx, code)
}

// serveControl handles requests from other commands on the socket in a data folder until the result
// is closed. The server must hold the folder's lock, which guarantees that an existing socket was
// left behind by a killed server. The server also works without the socket, so a failure is only
// logged.
func serveControl(dir string, rooms roomKeeper, log *slog.Logger) io.Closer {
	if dir == "" {
		return &http.Server{}
	}
	listener, err := listenControl(dir)
	if err != nil {
		log.Warn(
			"failed to open the control socket; viz rooms cannot close or remove rooms while this server runs",
			"error", err,
		)
		return &http.Server{}
	}
	mux := http.NewServeMux()
	for _, verb := range []string{closeVerb, removeVerb} {
		mux.HandleFunc("POST /rooms/{code}/"+verb, func(w http.ResponseWriter, r *http.Request) {
			if err := change(r.Context(), rooms, verb, r.PathValue("code")); err != nil {
				http.Error(w, err.Error(), http.StatusConflict)
			}
		})
	}
	server := &http.Server{
		Handler: mux, ReadTimeout: headerTimeout, WriteTimeout: controlTime, ErrorLog: slog.NewLogLogger(
			log.Handler(), slog.LevelWarn,
		),
	}
	go func() {
		_ = server.Serve(listener) // until it is closed
	}()
	return server
}

func listenControl(dir string) (net.Listener, error) {
	folder, path := filepath.Join(dir, controlFolder), controlPath(dir)
	if err := os.Mkdir(folder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	if info, err := os.Lstat(folder); err != nil {
		return nil, err
	} else if !info.IsDir() { // a symbolic link could lead out of the data folder
		return nil, fmt.Errorf("%s is not a folder", folder)
	}
	if err := os.Chmod(folder, 0o700); err != nil {
		return nil, err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	listener, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	return listener, os.Chmod(path, 0o600)
}

// changeRoom closes or removes a room, either through the server that uses the data folder or, if
// there is none, in the folder itself. If own is not "", it is a folder whose lessons are part of
// the course; it is used only without a server.
func changeRoom(ctx context.Context, dir, own, verb, code string) error {
	if err := askServer(ctx, dir, verb, code); !errors.Is(err, errNoServer) {
		return err
	}
	look, err := store.OpenToRead(dir) // checks that there is a database of this version
	if err != nil {
		return err
	}
	if err := look.Close(); err != nil {
		return err
	}
	course, err := ownLessons(own)
	if err != nil {
		return err
	}
	log := slog.New(slog.DiscardHandler)
	db, err := store.Open(dir, log)
	if errors.Is(err, store.ErrInUse) {
		return fmt.Errorf("the server is not responding on its control socket; stop it first, or use the "+
			"instructor's page: %w", err)
	} else if err != nil {
		return err
	}
	// The hub's rooms never expire, so only the named room is deleted.
	hub, err := room.NewHub(ctx, room.Config{
		Logs: journal.For(db), Secrets: db, Course: course, Log: log, Limits: room.Limits{TTL: math.MaxInt64},
	})
	if err != nil {
		return errors.Join(err, db.Close())
	}
	return errors.Join(change(ctx, hub, verb, code), hub.Close(ctx), db.Close())
}

// errNoServer is returned by askServer if no server answers on the socket.
var errNoServer = errors.New("no server is using this folder")

// askServer asks the server that uses a data folder to change a room.
func askServer(ctx context.Context, dir, verb, code string) error {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", controlPath(dir))
	if err != nil {
		return errNoServer
	}
	client := &http.Client{Timeout: controlTime, Transport: &http.Transport{
		DialContext:       func(context.Context, string, string) (net.Conn, error) { return conn, nil },
		DisableKeepAlives: true,
	}}
	defer conn.Close()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://viz/rooms/"+code+"/"+verb, nil)
	if err != nil {
		return err
	}
	res, err := client.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	said, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode == http.StatusOK {
		return err
	}
	return errors.New(strings.TrimSpace(string(said)))
}
