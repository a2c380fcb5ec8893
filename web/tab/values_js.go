package tab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"syscall/js"

	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/store"
	"github.com/tokenbytoken/viz/web/wire"
)

// bytesOf copies a Uint8Array, or returns nil for null.
func bytesOf(v js.Value) []byte {
	if !v.Truthy() {
		return nil
	}
	b := make([]byte, v.Length())
	js.CopyBytesToGo(b, v)
	return b
}

// arrayOf copies bytes into a Uint8Array.
func arrayOf(b []byte) js.Value {
	a := js.Global().Get("Uint8Array").New(len(b))
	js.CopyBytesToJS(a, b)
	return a
}

// downloaded is a downloaded file of the site's model.
type downloaded struct {
	*bytes.Reader
	data []byte
}

// SHA256 implements [checkpoint.Summed].
func (d downloaded) SHA256() ([]byte, error) {
	sum, err := await(js.Global().Get("crypto").Get("subtle").Call("digest", "SHA-256", arrayOf(d.data)))
	if err != nil {
		return nil, err
	}
	return bytesOf(js.Global().Get("Uint8Array").New(sum)), nil
}

// promise returns a promise of the value that f returns.
func promise(f func() (any, error)) js.Value {
	var work js.Func
	work = js.FuncOf(func(_ js.Value, args []js.Value) any {
		resolve, reject := args[0], args[1]
		go func() {
			defer work.Release()
			v, err := f()
			if err != nil {
				reject.Invoke(js.Global().Get("Error").New(err.Error()))
				return
			}
			resolve.Invoke(v)
		}()
		return nil
	})
	return js.Global().Get("Promise").New(work)
}

// await waits for a promise. If the promise is rejected, the error includes the name of the
// JavaScript error.
func await(p js.Value) (js.Value, error) {
	done := make(chan struct{})
	var value js.Value
	var err error
	yes := js.FuncOf(func(_ js.Value, args []js.Value) any {
		value = args[0]
		close(done)
		return nil
	})
	no := js.FuncOf(func(_ js.Value, args []js.Value) any {
		why := args[0]
		err = fmt.Errorf("%s: %s", why.Get("name").String(), why.Get("message").String())
		if why.Get("name").String() == "QuotaExceededError" {
			err = errors.Join(store.ErrBrowserFull, err)
		}
		close(done)
		return nil
	})
	defer yes.Release()
	defer no.Release()
	p.Call("then", yes, no)
	<-done
	return value, err
}

// table adapts the worker's storage (web/site/worker/kept.js) to [journal.Table].
type table struct{ js.Value }

// Rows implements [journal.Table].
func (t table) Rows(context.Context) ([]journal.Row, error) {
	list, err := await(t.Call("rows"))
	if err != nil {
		return nil, err
	}
	rows := make([]journal.Row, list.Length())
	for i := range rows {
		v := list.Index(i)
		rows[i] = journal.Row{
			Owner: journal.Owner{Kind: v.Get("kind").String(), Name: v.Get("name").String()},
			Record: journal.Record{
				Type: v.Get("type").String(), ID: v.Get("id").String(), Data: []byte(v.Get("data").String()),
				Seq: int64(v.Get("n").Float()),
			},
			Used: int64(v.Get("used").Float()),
		}
	}
	return rows, nil
}

// Put implements [journal.Table].
func (t table) Put(_ context.Context, rows []journal.Row) error {
	list := make([]any, len(rows))
	for i, r := range rows {
		list[i] = map[string]any{
			"kind": r.Kind, "name": r.Name, "type": r.Type, "id": r.ID, "data": string(r.Data),
			"n": float64(r.Seq), "used": float64(r.Used),
		}
	}
	_, err := await(t.Call("put", list))
	return err
}

// Delete implements [journal.Table].
func (t table) Delete(_ context.Context, o journal.Owner, gone []journal.Key) error {
	list := make([]any, len(gone))
	for i, k := range gone {
		list[i] = []any{o.Kind, o.Name, k.Type, k.ID}
	}
	_, err := await(t.Call("remove", list))
	return err
}

// Drop implements [journal.Table].
func (t table) Drop(_ context.Context, o journal.Owner) error {
	_, err := await(t.Call("drop", o.Kind, o.Name))
	return err
}

// portOf returns the program's end of a message port.
func portOf(end js.Value, in <-chan []byte) wire.Port {
	return wire.Port{
		In: in,
		Send: func(message []byte) error {
			end.Call("postMessage", string(message))
			return nil
		},
		Close: func(code int, reason string) {
			end.Call("postMessage", map[string]any{"code": code, "reason": reason})
		},
	}
}
