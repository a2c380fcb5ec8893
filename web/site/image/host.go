package image

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// start is the time on the program's clock when the program starts, and step is how far the clock
// advances each time it is read. start is earlier than the time on any browser's clock, because
// Go's clock must never go back.
const (
	start = 1_000_000_000 * time.Second // after 1970: September 9, 2001
	step  = time.Microsecond
)

// A host implements what wasm_exec.js provides in a browser: the functions that a Go program
// imports, and the JavaScript values that it references, by their ids.
type host struct {
	world  *world
	memory api.Memory
	said   bytes.Buffer // what the program has printed

	values []value
	counts []int // the program's references to each value; forever for the first ones
	ids    map[value]uint32
	free   []uint32

	now      time.Duration
	random   *rand.ChaCha8
	timeouts map[int32]time.Duration // the pending timeouts, by id
	timeout  int32                   // the id of the last timeout
	failed   error                   // why the run was stopped
}

// forever is the count of a value that is never released.
const forever = math.MaxInt

func newHost(w *world) *host {
	h := &host{
		world: w, ids: map[value]uint32{}, now: start, random: rand.NewChaCha8([32]byte{}),
		timeouts: map[int32]time.Duration{},
	}
	h.values = []value{math.NaN(), 0.0, nil, true, false, w.global, w.program}
	for id, v := range h.values {
		h.counts = append(h.counts, forever)
		if id > 0 {
			h.ids[v] = uint32(id)
		}
	}
	return h
}

// A frame is a call to an imported function. The arguments and results are on Go's own stack.
type frame struct {
	h  *host
	sp uint32
}

func (f frame) bytes(at, n uint32) []byte {
	b, ok := f.h.memory.Read(f.sp+at, n)
	if !ok {
		f.h.fail(errors.New("the arguments of a call are outside the program's memory"))
	}
	return b
}

func (f frame) int32(at uint32) int32 { return int32(binary.LittleEndian.Uint32(f.bytes(at, 4))) }

func (f frame) int64(at uint32) int64 { return int64(binary.LittleEndian.Uint64(f.bytes(at, 8))) }

func (f frame) setInt32(at uint32, v int32) { binary.LittleEndian.PutUint32(f.bytes(at, 4), uint32(v)) }

func (f frame) setInt64(at uint32, v int64) { binary.LittleEndian.PutUint64(f.bytes(at, 8), uint64(v)) }
func (f frame) setBool(at uint32, v bool)   { f.bytes(at, 1)[0] = map[bool]byte{true: 1}[v] }

// slice returns the memory of a Go slice or string.
func (f frame) slice(at uint32) []byte {
	b, ok := f.h.memory.Read(uint32(f.int64(at)), uint32(f.int64(at+8)))
	if !ok {
		f.h.fail(errors.New("a slice is outside the program's memory"))
	}
	return b
}

func (f frame) string(at uint32) string { return string(f.slice(at)) }

// value returns the value of a Go reference: a number, or the id of a value encoded as a NaN.
func (f frame) value(at uint32) value {
	bits := uint64(f.int64(at))
	number := math.Float64frombits(bits)
	switch {
	case number == 0:
		return undefined{}
	case !math.IsNaN(number):
		return number
	}
	return f.h.values[uint32(bits)]
}

func (f frame) values(at uint32) []value {
	list := make([]value, f.int64(at+8))
	for i := range list {
		list[i] = frame{f.h, uint32(f.int64(at))}.value(uint32(8 * i))
	}
	return list
}

// nanHead is the upper half of a reference to a value that is not a number. The type of the value
// is added to it.
const nanHead = 0x7ff80000

func (f frame) setValue(at uint32, v value) {
	flag := uint64(0)
	switch v := v.(type) {
	case undefined:
		f.setInt64(at, 0)
		return
	case float64:
		if math.IsNaN(v) {
			f.setInt64(at, nanHead<<32)
			return
		}
		if v != 0 {
			f.setInt64(at, int64(math.Float64bits(v)))
			return
		}
	case string:
		flag = 2
	case *object:
		flag = 1
		if v.function != 0 || v.create != nil {
			flag = 4
		}
	}
	f.setInt64(at, int64((nanHead|flag)<<32|uint64(f.h.hold(v))))
}

// hold adds a reference to a value.
func (h *host) hold(v value) uint32 {
	id, ok := h.ids[v]
	if !ok {
		if n := len(h.free); n > 0 {
			id, h.free = h.free[n-1], h.free[:n-1]
		} else {
			id = uint32(len(h.values))
			h.values, h.counts = append(h.values, nil), append(h.counts, 0)
		}
		h.values[id], h.counts[id], h.ids[v] = v, 0, id
	}
	if h.counts[id] != forever {
		h.counts[id]++
	}
	return id
}

func (h *host) letGo(id uint32) {
	if h.counts[id] == forever {
		return
	}
	if h.counts[id]--; h.counts[id] == 0 {
		delete(h.ids, h.values[id])
		h.values[id] = nil
		h.free = append(h.free, id)
	}
}

// fail stops the run.
func (h *host) fail(err error) {
	h.failed = err
	panic(err)
}

// result stores a function's result, and stops the run if the function failed.
func (f frame) result(at uint32, v value, err error) {
	if err != nil {
		f.h.fail(err)
	}
	f.setValue(at, v)
}

// instantiate adds the functions of wasm_exec.js that a program can import to the runtime.
func (h *host) instantiate(ctx context.Context, r wazero.Runtime) error {
	b := r.NewHostModuleBuilder("gojs")
	for name, act := range map[string]func(frame){
		"runtime.wasmExit":             h.exit,
		"runtime.wasmWrite":            h.write,
		"runtime.resetMemoryDataView":  func(frame) {},
		"runtime.nanotime1":            func(f frame) { f.setInt64(8, int64(h.time())) },
		"runtime.walltime":             h.walltime,
		"runtime.scheduleTimeoutEvent": h.scheduleTimeout,
		"runtime.clearTimeoutEvent":    func(f frame) { delete(h.timeouts, f.int32(8)) },
		"runtime.getRandomData":        func(f frame) { _, _ = h.random.Read(f.slice(8)) },
		"syscall/js.finalizeRef":       func(f frame) { h.letGo(uint32(f.int32(8))) },
		"syscall/js.stringVal":         func(f frame) { f.setValue(24, f.string(8)) },
		"syscall/js.valueGet":          valueGet,
		"syscall/js.valueSet":          valueSet,
		"syscall/js.valueDelete":       unknown("deletes a property"),
		"syscall/js.valueIndex":        valueIndex,
		"syscall/js.valueSetIndex":     unknown("sets an array's element"),
		"syscall/js.valueCall":         valueCall,
		"syscall/js.valueInvoke":       unknown("calls a function"),
		"syscall/js.valueNew":          valueNew,
		"syscall/js.valueLength":       valueLength,
		"syscall/js.valuePrepareString": func(f frame) {
			text, _ := f.value(8).(string)
			f.setValue(16, &object{bytes: []byte(text)})
			f.setInt64(24, int64(len(text)))
		},
		"syscall/js.valueLoadString": func(f frame) { copy(f.slice(16), f.value(8).(*object).bytes) },
		"syscall/js.valueInstanceOf": unknown("uses instanceof"),
		"syscall/js.copyBytesToGo":   copyBytesToGo,
		"syscall/js.copyBytesToJS":   copyBytesToJS,
	} {
		call := api.GoFunc(func(_ context.Context, stack []uint64) { act(frame{h, uint32(stack[0])}) })
		b.NewFunctionBuilder().WithGoFunction(call, []api.ValueType{api.ValueTypeI32}, nil).Export(name)
	}
	_, err := b.Instantiate(ctx)
	return err
}

func unknown(what string) func(frame) {
	return func(f frame) {
		f.h.fail(fmt.Errorf("the program %s, which is not supported at build time", what))
	}
}

func (h *host) exit(f frame) { h.fail(fmt.Errorf("the program exited with status %d", f.int32(8))) }

func (h *host) write(f frame) {
	text, ok := h.memory.Read(uint32(f.int64(16)), uint32(f.int32(24)))
	if !ok {
		f.h.fail(errors.New("the program's output buffer is outside its memory"))
	}
	h.said.Write(text)
}

func (h *host) time() time.Duration {
	h.now += step
	return h.now
}

func (h *host) walltime(f frame) {
	now := h.time()
	f.setInt64(8, int64(now/time.Second))
	f.setInt32(16, int32(now%time.Second))
}

func (h *host) scheduleTimeout(f frame) {
	h.timeout++
	h.timeouts[h.timeout] = h.now + time.Duration(f.int64(8))*time.Millisecond
	f.setInt32(16, h.timeout)
}

func valueGet(f frame) {
	v, err := get(f.value(8), f.string(16))
	f.result(32, v, err)
}

func valueSet(f frame) {
	o, ok := f.value(8).(*object)
	if !ok || o.props == nil || o.path != nil {
		f.h.fail(fmt.Errorf("the program must not set property %s of %v", f.string(16), f.value(8)))
	}
	o.props[f.string(16)] = f.value(32)
}

func valueIndex(f frame) {
	o, ok := f.value(8).(*object)
	if i := f.int64(16); ok && i < int64(len(o.items)) {
		f.setValue(24, o.items[i])
		return
	}
	f.h.fail(errors.New("the program indexes a value that is not an array, or uses an index out of range"))
}

func valueCall(f frame) {
	v, err := call(f.value(8), f.string(16), f.values(32))
	f.result(56, v, err)
	f.setBool(64, true)
}

func valueNew(f frame) {
	o, ok := f.value(8).(*object)
	if !ok || o.create == nil {
		f.h.fail(fmt.Errorf("the program cannot create a new %v", f.value(8)))
	}
	v, err := o.create(f.values(16))
	f.result(40, v, err)
	f.setBool(48, true)
}

func valueLength(f frame) {
	n := 0
	if o, ok := f.value(8).(*object); ok {
		n = len(o.items) + len(o.bytes)
	}
	f.setInt64(16, int64(n))
}

func copyBytesToGo(f frame) {
	n := copy(f.slice(8), f.value(32).(*object).bytes)
	f.setInt64(40, int64(n))
	f.setBool(48, true)
}

func copyBytesToJS(f frame) {
	n := copy(f.value(8).(*object).bytes, f.slice(16))
	f.setInt64(40, int64(n))
	f.setBool(48, true)
}
