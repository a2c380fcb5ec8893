package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/web"
	"github.com/tokenbytoken/viz/web/shell"
)

// ownServer starts a server in this process, with the embedded model and a temporary data folder,
// so votes are written to disk as usual. stop ends the server and deletes the folder.
func ownServer(ctx context.Context) (stop func() error, url string, err error) {
	model, err := openModel(ctx, modelPath{}, "", infer.QuantNone, io.Discard)
	if err != nil {
		return nil, "", err
	}
	dir, err := os.MkdirTemp("", "viz-load-")
	if err != nil {
		return nil, "", err
	}
	log := slog.New(slog.DiscardHandler)
	cfg := web.Config{Model: model, Logger: log}
	kept, err := keep(dir, "", 0, &cfg, log)
	if err != nil {
		return nil, "", errors.Join(err, os.RemoveAll(dir))
	}
	end := func() error { return errors.Join(kept.Close(), os.RemoveAll(dir)) }
	listener, err := listen(ctx, "127.0.0.1:0")
	if err != nil {
		return nil, "", errors.Join(err, end())
	}
	cfg.AllowedHosts = shell.LoopbackHosts(listener.Addr().String())
	app, err := web.New(cfg)
	if err != nil {
		return nil, "", errors.Join(err, listener.Close(), end())
	}
	server := newHTTP(app.Handler(), log)
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	return func() error {
		err := shutDown(server, app)
		if serving := <-failed; !errors.Is(serving, http.ErrServerClosed) {
			err = errors.Join(err, serving)
		}
		return errors.Join(err, end())
	}, "http://" + listener.Addr().String(), nil
}
