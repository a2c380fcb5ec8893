package browser

import (
	"path/filepath"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// Drag drags an element with the mouse or a finger, in small steps, by the given numbers of pixels
// to the right and down.
func (tab *Tab) Drag(selector string, finger bool, right, down float64) {
	tab.t.Helper()
	at := tab.spot(selector, finger)
	const steps = 4
	step := func(n int) (x, y float64) {
		part := float64(n) / steps
		return at.X + part*right, at.Y + part*down
	}
	if finger {
		tab.touch(input.DispatchTouchEventTypeTouchStart, &input.TouchPoint{X: at.X, Y: at.Y})
		for n := 1; n <= steps; n++ {
			x, y := step(n)
			tab.touch(input.DispatchTouchEventTypeTouchMove, &input.TouchPoint{X: x, Y: y})
		}
		tab.touch(input.DispatchTouchEventTypeTouchEnd)
		return
	}
	tab.mouse(input.DispatchMouseEventTypeMouseMoved, at.X, at.Y)
	tab.mouse(input.DispatchMouseEventTypeMousePressed, at.X, at.Y)
	for n := 1; n <= steps; n++ {
		x, y := step(n)
		tab.do("drag", chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, x, y, chromedp.ButtonLeft))
	}
	x, y := step(steps)
	tab.mouse(input.DispatchMouseEventTypeMouseReleased, x, y)
}

// Swipe scrolls the page by moving a finger up along its margin by the given number of pixels.
func (tab *Tab) Swipe(up float64) {
	tab.t.Helper()
	const margin, steps = 6, 8
	from := Value[float64](tab, "innerHeight") - 40
	tab.touch(input.DispatchTouchEventTypeTouchStart, &input.TouchPoint{X: margin, Y: from})
	for n := 1.0; n <= steps; n++ {
		tab.touch(input.DispatchTouchEventTypeTouchMove, &input.TouchPoint{X: margin, Y: from - n/steps*up})
	}
	time.Sleep(hold)
	tab.touch(input.DispatchTouchEventTypeTouchEnd)
}

// Drop drags files or folders from the disk over an element and drops them there.
func (tab *Tab) Drop(selector string, paths ...string) {
	tab.t.Helper()
	var whole []string
	for _, path := range paths {
		p, err := filepath.Abs(path)
		if err != nil {
			tab.t.Fatal(err)
		}
		whole = append(whole, p)
	}
	const copies = 1
	data := &input.DragData{Items: []*input.DragDataItem{}, Files: whole, DragOperationsMask: copies}
	at := tab.spot(selector, false)
	for _, kind := range []input.DispatchDragEventType{
		input.DispatchDragEventTypeDragEnter, input.DispatchDragEventTypeDragOver, input.DispatchDragEventTypeDrop,
	} {
		call(tab, "drop files", input.DispatchDragEvent, input.DispatchDragEventParams{
			Type: kind, X: at.X, Y: at.Y, Data: data,
		})
	}
}
