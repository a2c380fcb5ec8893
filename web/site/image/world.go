package image

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A value is a JavaScript value: undefined, nil for null, a bool, float64, string or *object.
type value any

type undefined struct{}

// An object is a JavaScript object, reduced to what a program uses.
type object struct {
	// path leads to the object from the worker's globals in every browser. It is nil if the
	// object exists only in this world.
	path []string
	// function is the id of a function that the program created; 0 for every other object.
	function int32
	props    map[string]value
	items    []value // the elements of an array
	bytes    []byte  // the bytes of a Uint8Array
	create   method  // the function behind a constructor
	methods  map[string]method
}

type method = func(args []value) (value, error)

// A world is the program's environment while it is being prepared.
type world struct {
	global, program *object // globalThis, and the Go object of wasm_exec.js
	events          []event // to be delivered to the program, one after another
	// prepared is the program's function that must be called with each visitor's data.
	prepared *object
}

// An event is a call to one of the program's functions.
type event struct {
	function int32
	args     []value
}

// newWorld returns a world with a worker's global object, as wasm_exec.js leaves it, and with the
// values that a site's worker (web/site/worker/worker.js) adds for the program before there is a
// visitor.
func newWorld(in Input) *world {
	w := &world{}
	process := &object{props: map[string]value{"pid": -1.0, "ppid": -1.0, "argv0": undefined{}}}
	constants := &object{props: map[string]value{"O_DIRECTORY": -1.0}}
	for _, name := range []string{"WRONLY", "RDWR", "CREAT", "TRUNC", "APPEND", "EXCL"} {
		constants.props["O_"+name] = -1.0
	}
	subtle := &object{methods: map[string]method{"digest": w.digest}}
	w.global = &object{path: []string{}, props: map[string]value{
		"Object": &object{create: func([]value) (value, error) { return &object{props: map[string]value{}}, nil }},
		"Array":  &object{}, "Uint8Array": &object{create: newBytes}, "fetch": &object{}, "process": process,
		"path": &object{}, "fs": &object{props: map[string]value{"constants": constants}},
		"crypto": &object{props: map[string]value{"subtle": subtle}},
	}}
	w.program = &object{props: map[string]value{"_pendingEvent": nil}, methods: map[string]method{
		"_makeFuncWrapper": func(args []value) (value, error) {
			return &object{function: int32(args[0].(float64))}, nil
		},
	}}
	w.global.name()
	w.global.props["viz"] = w.site(in)
	return w
}

// name sets the paths of the objects below this one.
func (o *object) name() {
	for _, key := range slices.Sorted(maps.Keys(o.props)) {
		if below, ok := o.props[key].(*object); ok {
			below.path = append(slices.Clone(o.path), key)
			below.name()
		}
	}
}

// site returns the viz object, with the properties that are the same for every visitor.
func (w *world) site(in Input) *object {
	list := &object{}
	for _, f := range in.Files {
		list.items = append(list.items, &object{
			props: map[string]value{"name": f.Name, "size": float64(len(f.Data))},
			methods: map[string]method{"read": func(args []value) (value, error) {
				return &object{bytes: f.Data[int(args[0].(float64)):int(args[1].(float64))]}, nil
			}},
		})
	}
	lessons := value(nil)
	if len(in.Lessons) > 0 {
		lessons = &object{bytes: in.Lessons}
	}
	return &object{
		path: []string{"viz"}, // it differs between visitors
		props: map[string]value{
			"model":   &object{props: map[string]value{"name": in.Name, "files": list}},
			"lessons": lessons,
		},
		methods: map[string]method{
			"failed": func(args []value) (value, error) {
				return nil, fmt.Errorf("the program reported: %v", args[0])
			},
			"prepared": func(args []value) (value, error) {
				w.prepared, _ = args[0].(*object)
				return undefined{}, nil
			},
		},
	}
}

// newBytes is the constructor of Uint8Array. Its argument is a length, or another array
// whose bytes are copied.
func newBytes(args []value) (value, error) {
	switch of := args[0].(type) {
	case float64:
		return &object{bytes: make([]byte, int(of))}, nil
	case *object:
		return &object{bytes: slices.Clone(of.bytes)}, nil
	}
	return nil, fmt.Errorf("cannot create a Uint8Array from %T", args[0])
}

// digest is crypto.subtle.digest, for SHA-256.
func (w *world) digest(args []value) (value, error) {
	data, ok := args[1].(*object)
	if args[0] != "SHA-256" || !ok {
		return nil, fmt.Errorf("digest algorithm %v is not supported", args[0])
	}
	sum := sha256.Sum256(data.bytes)
	return &object{methods: map[string]method{
		"then": func(args []value) (value, error) {
			w.events = append(w.events, event{args[0].(*object).function, []value{&object{bytes: sum[:]}}})
			return undefined{}, nil
		},
	}}, nil
}

// get returns a property of an object.
func get(of value, name string) (value, error) {
	o, ok := of.(*object)
	if !ok {
		return nil, fmt.Errorf("cannot read %s of %T", name, of)
	}
	if v, ok := o.props[name]; ok {
		return v, nil
	}
	return nil, fmt.Errorf("the program reads %s of %s, and the value could differ from visitor to visitor", name, o)
}

// String returns the path of an object.
func (o *object) String() string {
	if o.path == nil {
		return "an object"
	}
	return strings.Join(append([]string{"globalThis"}, o.path...), ".")
}

// call calls a method of an object.
func call(of value, name string, args []value) (value, error) {
	o, ok := of.(*object)
	if ok && o.methods[name] != nil {
		return o.methods[name](args)
	}
	return nil, fmt.Errorf("the program calls %s on %v, and the result could differ from visitor to visitor", name, of)
}
