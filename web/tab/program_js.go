package tab

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"syscall/js"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/checkpoint"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web"
	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/memory"
	"github.com/tokenbytoken/viz/web/model"
	"github.com/tokenbytoken/viz/web/practice"
	"github.com/tokenbytoken/viz/web/progress"
	"github.com/tokenbytoken/viz/web/shell"
)

// The memory that the program can use in a browser, and the part of it that runs can use. Even a
// quarter of a gigabyte is a lot for a page.
const (
	memoryLimit = 200 << 20
	runsMemory  = 64 << 20
)

// The garbage collector's GOGC percentages: for normal operation; for loading a model, which
// produces about as much garbage as the size of the model; and for the time before the image is
// taken. WebAssembly never returns memory, so a tab keeps all memory that it has ever used.
const (
	garbage          = 50
	garbageLoading   = 20
	garbagePreparing = 2
)

// A program is the running program.
type program struct {
	door   *Door
	cfg    web.Config // the configuration that every server has, without the model
	site   models
	course *lessons.Course
	words  *terms.Language            // of the site
	server atomic.Pointer[web.Server] // the server for the current model
	first  bool                       // the visitor is new: nothing is known about them

	changing sync.Mutex // held while another model is opened
}

// models are the models that came with the site.
type models struct {
	target *infer.Model
	draft  func() (*infer.Model, error)
}

// Run runs the program for the worker (web/site/worker/worker.js). It first does all work that is
// the same for every visitor, using the global viz, which contains the model (name, files) and
// lessons (see [courseWith]). It then calls viz.prepared with a function and waits until that
// function is called with the visitor's viz. `viz site` takes an image of the program while it
// waits (web/site/image), and browsers start from this image.
//
// The visitor's viz contains draft (a function that returns a promise of a model in the same form
// as the main one or, if the download failed, of {say}), the host and path of the site, and the
// table, secret and cookies from the browser's storage. Run calls viz.ready with the program's
// functions, or viz.failed with a message, and serves requests until the worker ends.
func Run() {
	p, err := prepare(js.Global().Get("viz"))
	if err != nil {
		js.Global().Get("viz").Call("failed", err.Error())
		return
	}
	viz := visitor()
	if err := p.start(viz); err != nil {
		viz.Call("failed", err.Error())
		return
	}
	viz.Call("ready", map[string]any{
		"ask": js.FuncOf(p.ask), "connect": js.FuncOf(p.connect), "first": p.first,
		"open": js.FuncOf(p.open), "back": js.FuncOf(p.back),
	})
	select {}
}

// visitor waits for a visitor, and returns that visitor's viz.
func visitor() js.Value {
	tidy()
	came := make(chan js.Value)
	js.Global().Get("viz").Call("prepared", js.FuncOf(func(_ js.Value, args []js.Value) any {
		came <- args[0]
		return nil
	}))
	return <-came
}

// tidy frees as much memory as possible, because every visitor downloads the memory that is still
// in use.
func tidy() {
	for range 2 { // the first pass only releases JavaScript values
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	clearSlots()
	runtime.GC()
	clearFree()
	runtime.GC()
}

// clearSlots overwrites the free slots between small objects with zeros. It does so by filling them
// with new objects of the same size, which the garbage collector then frees.
func clearSlots() {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	for _, class := range m.BySize[1:] {
		size := int(class.Size)
		fill(func() { slotBytes = make([]byte, size) })
		fill(func() { slotPointers = make([]*byte, size/8) })
	}
	slotBytes, slotPointers = nil, nil
}

// The variables that hold the objects of clearSlots, so that these objects are on the heap.
var (
	slotBytes    []byte
	slotPointers []*byte
)

// fill calls allocate until an object needs new memory.
func fill(allocate func()) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	for used := m.HeapInuse; m.HeapInuse == used; runtime.ReadMemStats(&m) {
		for range 32 {
			allocate()
		}
	}
}

// clearFree overwrites free memory with zeros. Otherwise, weights that this memory held earlier
// would be in the image.
func clearFree() {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	had := m.HeapSys
	var held [][]byte
	for size := 1 << 20; size >= 8<<10; size /= 2 { // smaller blocks share pages
		for m.HeapIdle > uint64(size) && m.HeapSys == had {
			held = append(held, make([]byte, size))
			runtime.ReadMemStats(&m)
		}
		had = m.HeapSys
	}
	runtime.KeepAlive(held)
}

// prepare does the work that is the same for all visitors.
func prepare(viz js.Value) (*program, error) {
	debug.SetGCPercent(garbagePreparing)
	target, err := loadMade(viz.Get("model"))
	if err != nil {
		return nil, err
	}
	course, err := courseWith(bytesOf(viz.Get("lessons")))
	if err != nil {
		return nil, err
	}
	return &program{site: models{target: target}, course: course, words: terms.English}, nil
}

// start starts the program for a visitor.
func (p *program) start(viz js.Value) error {
	debug.SetMemoryLimit(memoryLimit)
	debug.SetGCPercent(garbage)
	log := slog.New(slog.NewTextHandler(os.Stderr, nil)) // the browser's console
	logs, err := journal.OpenStored(context.Background(), table{viz.Get("table")})
	if err != nil {
		return fmt.Errorf("reading the data stored in this browser: %w", err)
	}
	known, err := logs.Owners(context.Background(), journal.Learner)
	if err != nil {
		return err
	}
	p.door = &Door{
		Host: viz.Get("host").String(), Path: viz.Get("path").String(),
		Site:  Site{Public: viz.Get("public").String()},
		Greet: func(r *http.Request) *http.Cookie { return p.server.Load().Greet(r) },
		Keep:  func(cookies []byte) { viz.Call("keepCookies", string(cookies)) },
	}
	p.door.Bring([]byte(viz.Get("cookies").String()))
	p.first = len(known) == 0 && !p.door.Told()
	keeping := practice.Nowhere
	if viz.Get("table").Get("keeps").Bool() {
		keeping = practice.InBrowser
	}
	p.site.draft = opens(viz)
	p.cfg = web.Config{
		Course: p.course, Progress: progress.New(logs, browser{}, p.course, time.Now),
		EmbedOrigins: []string{shell.Anywhere}, // the host of a static site decides who can embed its pages
		AllowedHosts: []string{p.door.Host}, Logger: log, Secret: bytesOf(viz.Get("secret")),
		Memory: memory.Budget{Runs: runsMemory}, Keeping: keeping,
		HTML: func(html string) string { return Rebase(html, p.door.Path) },
	}
	p.door.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.server.Load().Handler().ServeHTTP(w, r)
	})
	return p.use(p.site.target, nil)
}

// use switches to another model, which is one of the site's or, with its files, a visitor's own.
// Connections to the previous server end as they do when a server restarts.
func (p *program) use(m *infer.Model, files *model.Files) error {
	cfg := p.cfg
	cfg.Model, cfg.OwnModel = m, model.OwnModel{Opens: true, Files: files}
	limit := int64(memoryLimit)
	if files == nil {
		cfg.OpenDraft = p.site.draft
	} else {
		limit += m.WeightBytes()
	}
	next, err := web.New(cfg)
	if err != nil {
		return err
	}
	debug.SetMemoryLimit(limit)
	if before := p.server.Swap(next); before != nil {
		go before.Shutdown(context.Background()) // the shutdown has its own time limit
	}
	return nil
}

// courseWith returns the course, with an instructor's own files if there are any. own is a JSON
// object that maps the names of these files to their texts, or nil.
func courseWith(own []byte) (*lessons.Course, error) {
	var texts map[string]string
	if len(own) > 0 {
		if err := json.Unmarshal(own, &texts); err != nil {
			return nil, fmt.Errorf("this site's lessons are damaged: %w", err)
		}
	}
	course, err := lessons.LoadTexts(texts)
	if err != nil {
		return nil, fmt.Errorf("loading the built-in lessons: %w", err)
	}
	return course, nil
}

// opens returns a function that opens the draft model. The worker downloads this model on
// demand.
func opens(viz js.Value) func() (*infer.Model, error) {
	return func() (*infer.Model, error) {
		of, err := await(viz.Call("draft"))
		if err != nil {
			return nil, fmt.Errorf("loading the draft model: %w", err)
		}
		if say := of.Get("say"); say.Truthy() {
			return nil, errors.New(say.String())
		}
		return load(of)
	}
}

// load loads a model from downloaded files.
func load(of js.Value) (*infer.Model, error) {
	debug.SetGCPercent(garbageLoading)
	defer debug.SetGCPercent(garbage)
	files := Files{}
	list := of.Get("files")
	for i := range list.Length() {
		name, data := list.Index(i).Get("name").String(), bytesOf(list.Index(i).Get("bytes"))
		if plain, ok := strings.CutSuffix(name, Packed); ok {
			var err error
			if data, err = UnpackWeights(data); err != nil {
				return nil, fmt.Errorf("file %s: %w", name, err)
			}
			name = plain
		}
		files[name] = downloaded{bytes.NewReader(data), data}
	}
	return open(files, of.Get("name").String())
}

// loadMade loads a model while a site is being built, from files that can be read at any
// offset.
func loadMade(of js.Value) (*infer.Model, error) {
	files := Files{}
	list := of.Get("files")
	for i := range list.Length() {
		file := list.Index(i)
		files[file.Get("name").String()] = &chunks{
			size:  int64(file.Get("size").Int()),
			fetch: func(from, to int64) ([]byte, error) { return bytesOf(file.Call("read", from, to)), nil },
			read:  func(int) {},
		}
	}
	return open(files, of.Get("name").String())
}

func open(files Files, name string) (*infer.Model, error) {
	c, err := checkpoint.Open(files, name)
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", name, err)
	}
	defer c.Close()
	return infer.Load(c)
}

// ask implements the JavaScript function ask(method, url, headers, body), which returns a promise
// of {status, headers, body}. Headers are lists of [name, value].
func (p *program) ask(_ js.Value, args []js.Value) any {
	a := Ask{Method: args[0].String(), URL: args[1].String(), Header: map[string]string{}, Body: bytesOf(args[3])}
	for i := range args[2].Length() {
		a.Header[args[2].Index(i).Index(0).String()] = args[2].Index(i).Index(1).String()
	}
	return promise(func() (any, error) {
		got, err := p.door.Answer(context.Background(), a)
		if err != nil {
			return nil, err
		}
		header := []any{}
		for name, values := range got.Header {
			for _, v := range values {
				header = append(header, []any{name, v})
			}
		}
		return map[string]any{"status": got.Status, "headers": header, "body": arrayOf(got.Body)}, nil
	})
}

// connect implements the JavaScript function connect(port, query, protocol). It serves a live part
// over a message port until the port is closed. A page closes the port by sending null.
func (p *program) connect(_ js.Value, args []js.Value) any {
	end, query, protocol := args[0], args[1].String(), args[2].String()
	in := make(chan []byte, 64)
	receive := js.FuncOf(func(_ js.Value, event []js.Value) any {
		data := event[0].Get("data")
		if data.Type() != js.TypeString {
			end.Set("onmessage", nil)
			close(in)
			return nil
		}
		text := []byte(data.String())
		select {
		case in <- text:
		default: // an event handler must not block; the part's own limits apply long before this one
			end.Set("onmessage", nil)
			close(in)
		}
		return nil
	})
	end.Set("onmessage", receive)
	go func() {
		defer receive.Release()
		defer end.Set("onmessage", nil)
		r, err := p.door.Request(context.Background(), Ask{
			Method: http.MethodGet, URL: "ws?" + query, Header: map[string]string{"Sec-WebSocket-Protocol": protocol},
		})
		if err != nil {
			end.Call("postMessage", map[string]any{"code": 1008, "reason": err.Error()})
			return
		}
		p.server.Load().ServePort(r, portOf(end, in))
	}()
	return nil
}
