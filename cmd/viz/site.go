package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/bundled"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web"
	"github.com/tokenbytoken/viz/web/model"
	"github.com/tokenbytoken/viz/web/practice"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/site"
)

const siteUsage = `Usage: viz site -program FILE -out DIR [flags]

Writes the program as a static site: a folder that any web server can serve,
under any path, with everything except classes. The program runs in the visitor's
browser. "make site" builds FILE and runs this command.
`

// siteHost is the host in the requests that fetch the pages while a site is built.
const siteHost = "site.invalid"

// siteOptions are the flags of viz site.
type siteOptions struct{ program, out, base, lessons string }

func (o *siteOptions) flags() *flags {
	f := newFlags(siteUsage)
	f.text("program", "FILE", "the program, built for js/wasm from ./cmd/viz/tab; wasm_exec.js from the same Go "+
		"version must be in the same folder", &o.program)
	f.text("out", "DIR", "the output folder, which must be empty or not exist yet", &o.out)
	f.text("lessons", "DIR", "a folder with your own lessons to include in the site", &o.lessons)
	f.value("base-url", "URL", "the site's public address, such as https://example.org/course/, for link "+
		"previews and 404.html", func(text string) error {
		u, err := url.Parse(text)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.RawQuery+u.Fragment != "" {
			return errors.New("must be an HTTP or HTTPS URL such as https://example.org/course/")
		}
		o.base = strings.TrimSuffix(u.String(), "/") + "/"
		return nil
	})
	return f
}

// runSite runs viz site.
func runSite(ctx context.Context, args []string, env func(string) string, stdout io.Writer) (err error) {
	o := siteOptions{}
	f := o.flags()
	if err := f.parse(args, env, stdout); err != nil {
		return err
	}
	if o.program == "" || o.out == "" {
		return usageError{errors.New("-program FILE and -out DIR are required")}
	}
	parts, err := o.parts()
	if err != nil {
		return usageError{fmt.Errorf("%s %s: %w", f.called("program"), o.program, err)}
	}
	quiet := slog.New(slog.DiscardHandler)
	cfg := web.Config{
		Logger: quiet, AllowedHosts: []string{siteHost}, EmbedOrigins: []string{shell.Anywhere},
		OwnModel: model.OwnModel{Opens: true}, Keeping: practice.InBrowser,
	}
	if parts.Lessons, err = lessons.ReadOwn(o.lessons); err == nil && o.lessons != "" {
		_, err = ownLessons(o.lessons)
	}
	if err != nil {
		return usageError{fmt.Errorf("%s %s:\n%w", f.called("lessons"), o.lessons, err)}
	}
	kept, err := keep("", o.lessons, 0, &cfg, quiet)
	if err != nil {
		return err
	}
	defer kept.Close()
	cfg.Classes.Logs = nil // a class needs a server
	if cfg.Model, err = openModel(ctx, modelPath{}, "", infer.QuantNone, io.Discard); err != nil {
		return err
	}
	if cfg.Draft, err = openDraft(ctx, cfg.Model, "", "", true, infer.QuantNone, io.Discard); err != nil {
		return err
	}
	app, err := web.New(cfg)
	if err != nil {
		return err
	}
	defer func() {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), web.ShutdownTime)
		defer cancel()
		err = errors.Join(err, app.Shutdown(ending))
	}()
	parts.Handler = app.Handler()
	parts.Target.Name, parts.Draft.Name = cfg.Model.Name(), cfg.Draft.Name()
	if parts.Target.Files, err = bundled.TargetFiles(); err != nil {
		return err
	}
	if parts.Draft.Files, err = bundled.DraftFiles(); err != nil {
		return err
	}
	began := time.Now()
	sum, err := site.Write(ctx, o.out, parts)
	if err != nil {
		return err
	}
	w := terms.In(ctx)
	_, err = fmt.Fprintf(stdout, "%s\n%s\n", w.T(
		"cmd.site.written", "pages", terms.Count(sum.Pages), "files", terms.Count(sum.Files),
		"folder", terms.Printable(o.out), "time", w.Took(time.Since(began)),
	), w.T("cmd.site.first", "size", terms.BytesShort(sum.First)))
	return err
}

// parts returns the options of the site that depend only on the flags. The caller adds the server
// and the models.
func (o *siteOptions) parts() (site.Options, error) {
	parts := site.Options{Host: siteHost, Public: o.base}
	var err error
	if parts.Program, err = os.ReadFile(o.program); err != nil {
		return parts, err
	}
	if !bytes.HasPrefix(parts.Program, []byte("\x00asm")) {
		return parts, errors.New("not a WebAssembly file; build it with GOOS=js GOARCH=wasm go build ./cmd/viz/tab")
	}
	parts.Exec, err = os.ReadFile(filepath.Join(filepath.Dir(o.program), "wasm_exec.js"))
	return parts, err
}
