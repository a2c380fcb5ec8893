package loop

import (
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/browser"
)

// TestEnterStartsThePrompt: in the prompt box, Enter starts the run and Shift+Enter begins a new
// line. An Enter that ends a composition does nothing else.
func TestEnterStartsThePrompt(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	x := newSite(t, limits{})
	b := openTab(t, x, browser.Laptop)
	b.Until(`!document.getElementById('prompt-box').hidden`)
	b.Type("#prompt", "Once upon")
	b.Shift(browser.Enter)
	b.Keys("a time")
	b.EndComposition()
	b.Keys("!")
	b.Until(`document.getElementById('prompt').value === 'Once upon\na time!'`)
	b.Keys(browser.Enter)
	b.Until(atStage("1"))
	if got := x.onlyRun().Latest().Prompt; got != "Once upon\na time!" {
		t.Errorf("the run begins with %q, want %q", got, "Once upon\na time!")
	}
}

// TestArrowsStepAfterASliderWasDragged: after a slider has been dragged with the mouse, the arrow
// keys step through the stages. If the slider was reached by keyboard instead, they move the
// slider. Letter keys work on non-Latin keyboards.
func TestArrowsStepAfterASliderWasDragged(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	x := newSite(t, limits{})
	b := startTab(t, x)
	browser.Mouse(b.Tab).Slide("#temperature", 1.5)
	b.Until(`document.activeElement.id === 'temperature'`)
	hot := browser.Value[string](b.Tab, `document.getElementById('temperature').value`)
	b.Keys(browser.ArrowRight)
	b.Until(atStage("2"))
	if got := browser.Value[string](b.Tab, `document.getElementById('temperature').value`); got != hot {
		t.Errorf("the arrow key moved the slider from %s to %s, want it to stay", hot, got)
	}
	b.Keys("k")
	b.Until(`document.activeElement.id === 'top_k'`)
	b.Keys(browser.ArrowRight)
	b.Until(`document.getElementById('top_k').value === '1'`)
	if !browser.Value[bool](b.Tab, atStage("2")) {
		t.Error("an arrow key on a focused slider moved the run")
	}
	b.Eval(`document.activeElement.blur()`)
	b.Key("т", "KeyN") // on a Russian keyboard
	b.Until(`document.querySelectorAll('#strip-gen > [data-step]').length === 1`)
}
