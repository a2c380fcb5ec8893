package image

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tetratelabs/wazero"

	"github.com/tokenbytoken/viz/infer/fixture"
)

// The program is compiled once for all tests.
func init() { config = config.WithCompilationCache(wazero.NewCompilationCache()) }

// built returns the compiled testdata/program.
var built = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "image")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "program.wasm")
	fixture.Spend(fixture.Programs, 1)
	c := exec.Command("go", "build", "-o", file, "./testdata/program")
	c.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	if said, err := c.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, said)
	}
	return os.ReadFile(file)
})

// input returns an input for the program that makes it perform the named action.
func input(t *testing.T, does string) Input {
	t.Helper()
	program, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return Input{
		Program: program, Name: does,
		Files: []File{{"config.json", []byte("<ok>")}},
	}
}

// resume starts an image as the worker does, and returns the program's replies to two visitors.
func resume(t *testing.T, i *Image) []string {
	t.Helper()
	w := newWorld(Input{})
	h := newHost(w)
	r := wazero.NewRuntimeWithConfig(t.Context(), config)
	defer r.Close(t.Context())
	if err := h.instantiate(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	running, err := r.Instantiate(t.Context(), i.Program)
	if err != nil {
		t.Fatal(err)
	}
	h.memory = running.ExportedMemory("mem")
	rest := i.Memory
	for _, p := range i.Parts {
		h.memory.Write(uint32(p.At), rest[:p.Size])
		rest = rest[p.Size:]
	}
	var said []string
	visitor := &object{methods: map[string]method{"said": func(args []value) (value, error) {
		said = append(said, args[0].(string))
		return undefined{}, nil
	}}}
	if _, err := running.ExportedFunction("run").Call(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, held := range i.Values {
		v := value(&object{})
		if held.Function != 0 {
			v = &object{function: held.Function}
		}
		for n, at := w.global, 0; at < len(held.Path); at++ {
			n = n.props[held.Path[at]].(*object)
			v = n
		}
		h.hold(v)
	}
	for range 2 {
		w.events = []event{{h.values[i.Prepared].(*object).function, []value{visitor}}}
		h.next()
		if _, err := running.ExportedFunction("resume").Call(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return said
}

// TestImageRestoresTheProgram takes a program's image and starts it. The program continues from the
// point at which the image was taken and does not repeat earlier work.
func TestImageRestoresTheProgram(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	in := input(t, "counts")
	i, err := Take(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	said, want := resume(t, i), []string{"a text of the module ok 41", "a text of the module ok 42"}
	if !slices.Equal(said, want) {
		t.Errorf("the program replies %q, want %q", said, want)
	}
	again, err := Take(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(i.Program, again.Program) || !bytes.Equal(i.Memory, again.Memory) {
		t.Error("two images of a program differ")
	}
	if bytes.Contains(i.Program, []byte("a text of the module")) {
		t.Error("the module of the image has data")
	}
}

// TestProgramsWithoutVisitorsHaveNoImage runs programs that never wait for a visitor.
func TestProgramsWithoutVisitorsHaveNoImage(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	for does, why := range map[string]string{
		"asks":   "the program reads Date of globalThis, and the value could differ from visitor to visitor",
		"ends":   "the program exited with status 0",
		"exits":  "the program exited with status 3",
		"panics": "the program exited with status 2; output: panic: it panics",
		"fails":  "the program reported: the model is damaged",
		"waits":  "the program is blocked but has not called viz.prepared",
	} {
		_, err := Take(t.Context(), input(t, does))
		if err == nil || !strings.Contains(err.Error(), why) || strings.Contains(err.Error(), "\n") {
			t.Errorf("a program that %s: %v, want %s", does, err, why)
		}
	}
	for file, why := range map[string]string{
		"GIF89a":                           "not a WebAssembly module",
		magic:                              "the module has no section 6",
		magic + "\x06\x7f":                 "section 1 of the module is truncated",
		magic + "\x06\x04\x01\x7b\x00\x00": "the module has a global variable that Go's linker did not create",
	} {
		_, err := Take(t.Context(), Input{Program: []byte(file)})
		if err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %v, want %s", file, err, why)
		}
	}
}

// FuzzModule: if a module can be parsed, encoding it gives the same bytes, and no input crashes the
// parser.
func FuzzModule(f *testing.F) {
	f.Add([]byte(magic))
	f.Add([]byte(magic + "\x05\x03\x01\x00\x10\x06\x06\x01\x7f\x01\x41\x00\x0b\x07\x07\x01\x03mem\x02\x00\x0b\x01\x00"))
	f.Fuzz(func(t *testing.T, file []byte) {
		m, err := parseModule(file)
		if err != nil {
			return
		}
		again, err := parseModule(m.bytes())
		if err != nil || len(again) != len(m) {
			t.Fatalf("the encoded module cannot be parsed: got %v, want no error, len(again) = %d", err, len(m))
		}
		for i := range m {
			if m[i].id != again[i].id || !bytes.Equal(m[i].data, again[i].data) {
				t.Fatalf("section %d has changed", i)
			}
		}
		if list, err := m.exports(); err == nil && len(list) < 1000 {
			if again, err := m.withExports(list).exports(); err != nil || !slices.Equal(list, again) {
				t.Fatalf("exports %v became %v: %v; want them unchanged, <nil>", list, again, err)
			}
		}
		_, _ = m.globals()
	})
}

// TestGlobalsKeepTheirValues sets the values of global variables.
func TestGlobalsKeepTheirValues(t *testing.T) {
	t.Parallel()
	file := []byte(magic + "\x06\x0b\x02\x7f\x01\x41\x00\x0b\x7e\x01\x42\x00\x0b")
	m, err := parseModule(file)
	if err != nil {
		t.Fatal(err)
	}
	types, err := m.globals()
	if err != nil || string(types) != "\x7f\x7e" {
		t.Fatalf("types %x, %v; want %q, <nil>", types, err, "\x7f\x7e")
	}
	// Encoded by hand: -2 is 7e, and 2^63 is nine times 80 and then 7f, in signed LEB128.
	got := m.withGlobals(types, []uint64{0xfffffffe, 1 << 63}).bytes()
	want := magic + "\x06\x14\x02\x7f\x01\x41\x7e\x0b\x7e\x01\x42\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7f\x0b"
	if string(got) != want {
		t.Errorf("globals are encoded as %x, want %x", got, want)
	}
}
