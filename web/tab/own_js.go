package tab

import (
	"errors"
	"math"
	"runtime/debug"
	"syscall/js"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/model"
)

// usualMemory is the memory available for a model's weights if the browser does not report the
// device's memory.
const usualMemory = 1 << 30

// open implements the JavaScript function open(folder, files, tell). It switches to a visitor's own
// model, given as a list of {name, file} with the names as they were chosen, and calls tell with
// the progress in percent. It returns a promise of {name} or, if the previous model stays in use,
// of {say, why}.
func (p *program) open(_ js.Value, args []js.Value) any {
	folder, list, tell := args[0].String(), args[1], args[2]
	return promise(func() (any, error) {
		p.changing.Lock()
		defer p.changing.Unlock()
		var read, told int64
		files := Files{}
		progress := func(n int) {
			read += int64(n)
			const passes = 2 // once for the hash and once for the weights
			if now := min(100, 100*read/max(1, passes*files.Bytes())); now > told {
				told = now
				tell.Invoke(now)
			}
		}
		for i := range list.Length() {
			if name, ok := topOf(list.Index(i).Get("name").String()); ok {
				files[name] = onDisk(list.Index(i).Get("file"), progress)
			}
		}
		limit := debug.SetMemoryLimit(math.MaxInt64) // the new model sets its own limit later
		if folder == "" {
			folder = p.words.T("tab.unnamed")
		}
		m, format, err := OpenOwn(files, folder, memoryOf(js.Global().Get("navigator")))
		if err == nil {
			err = p.use(m, &model.Files{Format: format, Bytes: files.Bytes()})
		}
		if err != nil {
			debug.SetMemoryLimit(limit)
		}
		var no *refusal
		if errors.As(err, &no) {
			why := make([]any, len(no.why))
			for i, text := range no.why {
				why[i] = terms.Printable(text)
			}
			return map[string]any{"say": no.say.In(p.words), "why": why}, nil
		}
		if err != nil {
			return nil, err
		}
		return map[string]any{"name": m.Name()}, nil
	})
}

// back implements the JavaScript function back(), which switches back to the site's own model.
func (p *program) back(js.Value, []js.Value) any {
	return promise(func() (any, error) {
		p.changing.Lock()
		defer p.changing.Unlock()
		return map[string]any{}, p.use(p.site.target, nil)
	})
}

// memoryOf returns how much memory the weights of a visitor's own model can use, which is half of
// the memory that the browser reports for the device.
func memoryOf(navigator js.Value) int64 {
	gib := navigator.Get("deviceMemory")
	if gib.Type() != js.TypeNumber {
		return usualMemory
	}
	return min(ownLimit, int64(gib.Float()*(1<<30))/2)
}

// onDisk returns a reader for a File object of the browser.
func onDisk(f js.Value, read func(int)) *chunks {
	return &chunks{
		size: int64(f.Get("size").Float()), read: read,
		fetch: func(from, to int64) ([]byte, error) {
			chunk, err := await(f.Call("slice", from, to).Call("arrayBuffer"))
			if err != nil {
				return nil, err
			}
			return bytesOf(js.Global().Get("Uint8Array").New(chunk)), nil
		},
	}
}
