package loop

import (
	"testing"

	"github.com/tokenbytoken/viz/web/browser"
)

// TestPatchAroundFocus changes the structure of a list while its second button has focus, as
// the next answer to a search does. The button keeps focus and gets its new text. Text typed in
// a field also stays.
func TestPatchAroundFocus(t *testing.T) {
	t.Parallel()
	tab := visit(t, newSite(t, limits{}), browser.Laptop)
	tab.Eval(`import('/static/js/patch.js').then(({ patch }) => {
		const list = document.createElement('div');
		list.innerHTML = '<button>one</button><button id="two"><b>two</b> 1st</button><input id="field" value="old">';
		document.body.append(list);
		list.querySelector('#two').focus();
		patch(list, '<div><button id="two"><b>three</b> 2nd</button><input id="field" value="new"></div>');
		const button = list.querySelector('#two').textContent + ' ' + document.activeElement.id;
		list.querySelector('#field').focus();
		list.querySelector('#field').value = 'typed';
		patch(list, '<div><p>more</p><button id="two">four</button><input id="field" value="newer"></div>');
		window.patched = button + ', ' + list.querySelector('#field').value + ' ' + document.activeElement.id;
	})`)
	tab.Wait("a patched list", `window.patched !== undefined`)
	if got, want := browser.Value[string](tab, `window.patched`), "three 2nd two, typed field"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
