package pool

import (
	"sync"
	"syscall/js"
)

// breathe lets other goroutines and the browser run. They all share one thread, and while any
// goroutine can run, the browser cannot deliver incoming messages. So breathe sends a message to
// the program itself and waits for it: the message arrives after everything already queued, without
// the delay of a timer.
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
	breathing sync.Mutex // allows one message in transit at a time
	breath    = sync.OnceValue(func() js.Value { return js.Global().Get("MessageChannel").New() })
)
