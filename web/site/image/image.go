package image

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// Input is the part of a site's program input that does not depend on the visitor.
type Input struct {
	Program []byte // cmd/viz/tab, built for js/wasm
	Name    string // the main model's name
	Files   []File // the main model's files
	Lessons []byte // an instructor's own, or nil
}

// File is a file of a model.
type File struct {
	Name string
	Data []byte
}

// An Image is a program that is waiting for its visitor.
type Image struct {
	// Program is the module without its data. Once its memory has been filled with the parts in
	// Memory, the exported function run continues the program.
	Program []byte
	// Memory contains the nonzero parts of the memory, one after another, with zeros in place of
	// the model's matrices.
	Memory []byte
	// Weights contains these matrices, one after another, packed like a [tab.Matrix].
	Weights []byte
	State
}

// State is the part of a program's state that wasm_exec.js needs in addition to the memory.
type State struct {
	// Parts are the ranges of the program's memory that Memory contains, in order.
	Parts []Range `json:"parts"`
	// Matrices describes the matrices in Weights and their positions in Memory.
	Matrices []Matrix `json:"matrices"`
	// Values are the program's values in the order of their ids, starting at firstHeld. The values
	// with lower ids are the same in every program.
	Values []Held `json:"values"`
	// Prepared is the id of the program's function that accepts the visitor's data.
	Prepared uint32 `json:"prepared"`
	// Timeout is the id of the next timeout.
	Timeout int32 `json:"timeout"`
}

// A Range is a range of memory in bytes.
type Range struct {
	At   int `json:"at"`
	Size int `json:"size"`
}

// A Matrix is a matrix of bfloat16 numbers in the form in which the engine stores it, in panels
// (infer/kernel).
type Matrix struct {
	At   int `json:"at"` // in bytes
	Rows int `json:"rows"`
	Cols int `json:"cols"`
}

// Held is a JavaScript value with the number of the program's references to it, which can be 0.
// Path leads from the global object to the value. Function is the id of one of the program's
// functions. A value that existed only while the site was built has neither.
type Held struct {
	Count    int      `json:"count,omitempty"`
	Path     []string `json:"path,omitempty"`
	Function int32    `json:"function,omitempty"`
}

// config is the runtime's configuration: a compiler if wazero has one for this machine, and
// otherwise an interpreter.
var config = wazero.NewRuntimeConfig()

// Take runs a program until it waits for a visitor, and takes its image. The error explains why no
// image could be taken, and contains the first line that the program printed.
func Take(ctx context.Context, in Input) (*Image, error) {
	m, err := parseModule(in.Program)
	var types []byte
	if err == nil {
		types, err = m.globals()
	}
	if err != nil {
		return nil, fmt.Errorf("the program was not built by Go for js/wasm: %w", err)
	}
	w := newWorld(in)
	h := newHost(w)
	ctx = experimental.WithCompilationWorkers(ctx, runtime.GOMAXPROCS(0))
	r := wazero.NewRuntimeWithConfig(ctx, config)
	defer r.Close(ctx)
	running, err := h.run(ctx, r, m, len(types))
	if err != nil {
		return nil, h.why(err)
	}
	values := make([]uint64, len(types))
	for i := range values {
		values[i] = running.ExportedGlobal(register(i)).Get()
	}
	i, err := h.image(m, types, values)
	if err != nil {
		return nil, err
	}
	return i, i.takeWeights(in.Files)
}

// why adds the first line of the program's output to the error of a failed run, and removes the
// call stack from it.
func (h *host) why(err error) error {
	err = cmp.Or(h.failed, err)
	if first, _, _ := strings.Cut(h.said.String(), "\n"); first != "" {
		err = fmt.Errorf("%w; output: %s", err, first)
	}
	return fmt.Errorf("failed to prepare the program: %w", err)
}

// register returns the name under which a global variable is exported.
func register(i int) string { return fmt.Sprintf("register%d", i) }

// run runs the program until it waits for visitors.
func (h *host) run(ctx context.Context, r wazero.Runtime, m module, globals int) (_ api.Module, err error) {
	list, err := m.exports()
	if err != nil {
		return nil, err
	}
	for i := range globals {
		list = append(list, export{register(i), globalKind, uint64(i)})
	}
	if err := h.instantiate(ctx, r); err != nil {
		return nil, err
	}
	running, err := r.Instantiate(ctx, m.withExports(list).bytes())
	if err != nil {
		return nil, err
	}
	h.memory = running.ExportedMemory("mem")
	const arguments = 4096 // where wasm_exec.js stores the arguments: a path, and the ends of two lists
	h.memory.Write(arguments, append([]byte("js\x00\x00\x00\x00\x00\x00"), 0, 0x10))
	if _, err := running.ExportedFunction("run").Call(ctx, 1, arguments+8); err != nil {
		return nil, err
	}
	resume := running.ExportedFunction("resume")
	for h.world.prepared == nil {
		if !h.next() {
			return nil, errors.New("the program is blocked but has not called viz.prepared")
		}
		if _, err := resume.Call(ctx); err != nil {
			return nil, err
		}
	}
	return running, nil
}

// next delivers the next event or, if there is none, the next timeout. It reports whether there was
// one.
func (h *host) next() bool {
	if len(h.world.events) > 0 {
		e := h.world.events[0]
		h.world.events = h.world.events[1:]
		h.world.program.props["_pendingEvent"] = &object{props: map[string]value{
			"id": float64(e.function), "this": undefined{}, "args": &object{items: e.args},
		}}
		return true
	}
	first := int32(0)
	for id, at := range h.timeouts {
		if first == 0 || at < h.timeouts[first] || at == h.timeouts[first] && id < first {
			first = id
		}
	}
	if first == 0 {
		return false
	}
	h.now = max(h.now, h.timeouts[first])
	return true
}

// image captures the program's current memory.
func (h *host) image(m module, types []byte, values []uint64) (*Image, error) {
	memory, ok := h.memory.Read(0, h.memory.Size())
	if !ok {
		return nil, errors.New("cannot read the program's memory")
	}
	list, err := m.exports()
	if err != nil {
		return nil, err
	}
	resume := slices.IndexFunc(list, func(e export) bool { return e.name == "resume" })
	run := slices.IndexFunc(list, func(e export) bool { return e.name == "run" })
	if resume < 0 || run < 0 {
		return nil, errors.New("the program must export both run and resume")
	}
	list[run].index = list[resume].index
	m = m.without(dataSection, dataCountSection).withExports(list).withGlobals(types, values)
	m = m.withMemory(len(memory))
	i := &Image{Program: m.bytes()}
	i.Parts = parts(memory)
	for _, p := range i.Parts {
		i.Memory = append(i.Memory, memory[p.At:p.At+p.Size]...)
	}
	i.Timeout = h.timeout + 1
	i.Values = h.held()
	i.Prepared = h.ids[h.world.prepared]
	return i, nil
}

// gap is the size, in bytes, of the blocks that are omitted if they contain only zeros. A smaller
// gap would result in more parts, each of which costs a few bytes and a call.
const gap = 4096

// parts returns the ranges of memory without the blocks that contain only zeros.
func parts(memory []byte) (list []Range) {
	for at := 0; at < len(memory); at += gap {
		block := memory[at:min(at+gap, len(memory))]
		if !slices.ContainsFunc(block, func(b byte) bool { return b != 0 }) {
			continue
		}
		if n := len(list); n > 0 && list[n-1].At+list[n-1].Size == at {
			list[n-1].Size += len(block)
		} else {
			list = append(list, Range{at, len(block)})
		}
	}
	return list
}

// held returns the program's values whose ids are at least firstHeld, in the order of their ids.
func (h *host) held() (list []Held) {
	for id := firstHeld; id < len(h.values); id++ {
		one := Held{Count: h.counts[id]}
		if o, ok := h.values[id].(*object); ok {
			one.Path, one.Function = o.path, o.function
		}
		list = append(list, one)
	}
	return list
}

// firstHeld is the lowest id of a value that not every program references.
const firstHeld = 7
