//go:build js

// Command program is the program whose image the tests take. It performs the action that its model
// is named after, and counts its visitor's calls.
package main

import (
	"fmt"
	"os"
	"syscall/js"
	"time"
)

// constant is data in the module.
var constant = "a text of the module"

// State of the kinds that every larger program has: a map, and a timer that has fired.
var (
	made  = map[string]int{}
	timer = time.After(time.Millisecond)
)

func main() {
	viz := js.Global().Get("viz")
	model := viz.Get("model")
	name := model.Get("name").String()
	switch name {
	case "asks":
		js.Global().Get("Date").New()
	case "ends":
		return
	case "exits":
		os.Exit(3)
	case "panics":
		panic("it panics")
	case "fails":
		viz.Call("failed", "the model is damaged")
		return
	case "waits":
		select {}
	}
	<-timer
	made[name] = 40
	file := model.Get("files").Index(0)
	piece := file.Call("read", 1, 3)
	text := make([]byte, piece.Length())
	js.CopyBytesToGo(text, piece)
	visitors := make(chan js.Value)
	viz.Call("prepared", js.FuncOf(func(_ js.Value, args []js.Value) any {
		visitors <- args[0]
		return nil
	}))
	for visitor := range visitors {
		made[name]++
		visitor.Call("said", fmt.Sprintf("%s %s %d", constant, text, made[name]))
	}
}
