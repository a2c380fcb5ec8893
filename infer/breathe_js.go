package infer

import (
	"sync"
	"syscall/js"
)

// breathe lets other goroutines run, and the browser too: all share one thread, and
// while any goroutine can run, the browser cannot deliver incoming messages. A message
// to oneself arrives after everything that is already queued, and without a timer's
// delay.
func breathe() {
	channel := breath()
	done := make(chan struct{})
	var arrived js.Func
	arrived = js.FuncOf(func(js.Value, []js.Value) any {
		arrived.Release()
		close(done)
		return nil
	})
	breathing.Lock()
	defer breathing.Unlock()
	channel.Get("port1").Set("onmessage", arrived)
	channel.Get("port2").Call("postMessage", nil)
	<-done
}

var (
	breathing sync.Mutex // one message is on its way at a time
	breath    = sync.OnceValue(func() js.Value { return js.Global().Get("MessageChannel").New() })
)
