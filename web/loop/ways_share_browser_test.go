package loop

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/session"
)

var shareGiven = []session.Command{oneToken, oneToken, session.Seek{Step: 2, Stage: infer.KindFilter}}

var shareFeatures = []feature{
	{"link", shareGiven, useLink, press},
	{"files", shareGiven, useFiles, press},
	{"theme", nil, useTheme, press},
	{"keys", nil, useKeyList, press},
	{"predict", shareGiven, usePredict, press}, // comes last, since it leaves the page
}

// TestWaysExportAndSetUp exports links and files, and sets the page's preferences.
func TestWaysExportAndSetUp(t *testing.T) {
	fixture.Long(t)
	useAll(t, shareFeatures)
}

// useLink copies the link of the stage shown.
func useLink(v *visitor) {
	v.open("#share")
	v.Press("[data-copy-link]")
	v.says("#told", "Link copied")
	st := v.state()
	want := v.At(v.x.http.URL + "/loop?log=" + session.LinkOf(st))
	if got := v.Clipboard(); got != want {
		v.t.Errorf("copied %s, want %s", got, want)
	}
	v.Wait("the menu to shut", `!document.querySelector('#share').open`)
}

// useFiles downloads every export and compares it with the file that the test writes for the same
// state.
func useFiles(v *visitor) {
	downloads := v.Downloads()
	st := v.state()
	for _, name := range []string{"text", "trace", "chart", "table", "table-comma"} {
		e := exports[name]
		v.open("#share")
		v.Press(fmt.Sprintf("#share [data-export=%s]", name))
		got := downloads.File(fileName(st) + e.ending)
		var want bytes.Buffer
		if err := e.write(v.t.Context(), &want, st); err != nil {
			v.t.Fatal(err)
		}
		if !v.saves(got, want.Bytes()) {
			v.t.Errorf("%s: %d bytes were saved, want %d: %.60q", name, len(got), want.Len(), got)
		}
		if name == "table" { // the whole vocabulary and a header line
			text := bytes.TrimPrefix(got, []byte("\ufeff"))
			if rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll(); err != nil ||
				len(rows) != 1+st.Model.Config().Vocab {
				v.t.Errorf("got %d rows, %v; want %d, <nil>", len(rows), err, 1+st.Model.Config().Vocab)
			}
		}
	}
	if text := downloads.File(fileName(st) + ".txt"); !strings.HasPrefix(string(text), storyPrompt) {
		v.t.Errorf("the text is %q, want it to begin with %q", text, storyPrompt)
	}
	v.Press("#share > summary")
	v.Wait("the menu to shut", `!document.querySelector('#share').open`)
}

// saves reports whether a file matches the test's own file for the state. With a server, the two
// must match byte for byte. In a tab, times may differ, and other numbers may differ by a
// thousandth.
func (v *visitor) saves(got, want []byte) bool {
	if v.x.twin == nil {
		return bytes.Equal(got, want)
	}
	times := regexp.MustCompile(`"[a-z_]*ns":[0-9]+`)
	numbers := regexp.MustCompile(`-?[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?`)
	got, want = byID(times.ReplaceAll(got, nil)), byID(times.ReplaceAll(want, nil))
	if !bytes.Equal(numbers.ReplaceAll(got, nil), numbers.ReplaceAll(want, nil)) {
		return false
	}
	wants := numbers.FindAll(want, -1)
	for i, number := range numbers.FindAll(got, -1) {
		a, errA := strconv.ParseFloat(string(number), 64)
		b, errB := strconv.ParseFloat(string(wants[i]), 64)
		if errA != nil || errB != nil || math.Abs(a-b) > 1e-3*max(1, math.Abs(b)) {
			return false
		}
	}
	return true
}

// byID sorts a table of tokens by id and removes ranks and sums, since tokens with almost the same
// probability may be in a different order. It also replaces decimal commas with points. It returns
// other files unchanged.
func byID(file []byte) []byte {
	table := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(file, []byte("\ufeff"))))
	commas := bytes.Contains(file, []byte("rank;"))
	if commas {
		table.Comma = ';'
	}
	rows, err := table.ReadAll()
	if err != nil || rows[0][0] != "rank" {
		return file
	}
	slices.SortFunc(rows, func(a, b []string) int { return strings.Compare(a[1], b[1]) })
	var b bytes.Buffer
	for _, r := range rows {
		if commas { // the numbers have decimal commas
			for _, column := range []int{3, 4, 8} {
				r[column] = strings.Replace(r[column], ",", ".", 1)
			}
		}
		fmt.Fprintln(&b, r[1:5], r[6:])
	}
	return b.Bytes()
}

// usePredict follows the link to the game in which the visitor guesses the next token of this text.
func usePredict(v *visitor) {
	link := session.LinkOf(v.state())
	v.open("#try")
	v.Press("[data-predict]")
	v.Wait("the game", `location.pathname === '/predict' && document.readyState === 'complete'`)
	if want := v.x.http.URL + "/predict?log=" + link; v.URL() != want {
		v.t.Errorf("the page is at %s, want %s", v.URL(), want)
	}
}

// useTheme switches between light and dark, and checks that a reload keeps the choice.
func useTheme(v *visitor) {
	const dark = `getComputedStyle(document.body).backgroundColor`
	light := browser.Value[string](v.Tab, dark)
	v.theme()
	v.Wait("another ground", fmt.Sprintf(`%s !== %q`, dark, light))
	other := browser.Value[string](v.Tab, dark)
	v.Reload()
	v.Wait("a live page", isLive)
	if got := browser.Value[string](v.Tab, dark); got != other {
		v.t.Errorf("after a reload the background is %s, want %s", got, other)
	}
	v.theme()
	v.Wait("the first ground", fmt.Sprintf(`%s === %q`, dark, light))
	v.same()
}

// theme presses the switch, which a narrow window keeps in its menu.
func (v *visitor) theme() {
	v.t.Helper()
	if v.Name() == "touch" {
		v.open(".top__menu")
	}
	v.Press("[data-theme-toggle]")
}

// useKeyList opens the list of keys, switches letter keys off and on, and closes it. Phones can
// also have a keyboard.
func useKeyList(v *visitor) {
	if v.Name() == "keyboard" {
		v.Keys("?")
	} else {
		v.Press(v.keyList())
	}
	v.tickLetterKeys()
	v.Keys("n")
	v.Keys(browser.ArrowRight) // not a letter; if n had an effect, it would come first
	if st := v.comes("a stage", at(1, infer.KindLogits)); len(st.Steps) != 1 {
		v.t.Errorf("a letter key moved the run to %+v, want letter keys off", st.Cursor)
	}
	v.Press(v.keyList()) // by its button, since ? counts as a letter key
	v.tickLetterKeys()
	v.Keys("n")
	v.comes("a token", at(1, infer.KindCache))
}

// keyList returns the button that shows the list, which a narrow window keeps in its menu.
func (v *visitor) keyList() string {
	v.t.Helper()
	if v.Name() != "touch" {
		return ".top__keys"
	}
	v.open(".top__menu")
	return ".top__menu [data-dialog=keys]"
}

// tickLetterKeys checks or unchecks the box for letter keys in the list, and closes the list.
func (v *visitor) tickLetterKeys() {
	v.t.Helper()
	v.Wait("the list", `document.getElementById('keys').open`)
	v.Press("[data-letter-keys]")
	v.Press("#keys form button")
	v.Wait("the list to shut", `!document.getElementById('keys').open`)
}
