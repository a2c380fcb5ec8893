package first_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/stage"
)

var (
	oneStage = session.StepStage{}
	withheld = session.StepStage{Withhold: true}
)

// TestFirstRunByForms goes from the home page through every scene to the card and into the
// Loop, using only forms.
func TestFirstRunByForms(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	home := s.open("/")
	form := home.Find("main form")
	if got := form.AttrOr("action", ""); got != "/first" {
		t.Fatalf("a newcomer's field leads to %q, want %q", got, "/first")
	}
	// The server removes the space that a phone's keyboard adds after every word.
	p := s.open("/first?" + url.Values{"prompt": {begins + " "}}.Encode()).mustBe("read")
	if n := p.Find(".chips .tk").Length(); n != 7 {
		t.Errorf("got %d tokens, want the start mark and six more", n)
	}
	p = p.press(main).mustBe("guess")
	p.says(".say", "can be only the beginning of a word") // such as “wr”, which looks like a mistake
	p = p.press(pick).mustBe("shares")
	if n := p.Find(".shares li").Length(); n != 6 {
		t.Errorf("got %d rows, want five candidates and everything else", n)
	}
	if n := p.Find(".shares .is-noted").Length(); n != 1 || p.Find(".ghost").Length() != 0 {
		t.Errorf("got %d rows for the guess, want 1 and no ticks, since the knob has not been shown", n)
	}
	p = p.press(main).mustBe("bolder")
	p = p.press(pick).mustBe("bolder")
	p.says(".say", "with the knob a little on the safe side") // the ticks are the shares at another setting
	if p.Find(".shares .ghost").Length() == 0 || p.Find("#temperature").AttrOr("value", "") != "1.3" {
		t.Error("the knob shows no change")
	}
	p = p.press(main).mustBe("drop")
	if got := p.Find(main).Text(); got != "Let it fall" {
		t.Errorf("the button is %q, want %q", got, "Let it fall")
	}
	p = p.press(main).mustBe("drop")
	if p.Find(".laid__drop").Length() != 1 {
		t.Error("the marker has not fallen")
	}
	p.says(".fr__under", "kept token was possible too. The tokens left out were not.")
	before := p.link()
	if p = p.press("form:has([name=do][value=again]) button").mustBe("drop"); p.link() == before {
		t.Error("another try leads to the same run as before")
	}
	p = p.press(main).mustBe("joined")
	if n := p.Find(".prose .w").Length(); n != 1 {
		t.Errorf("got %d tokens joined the text, want 1", n)
	}
	p.says(".say", "The model has no stored draft.") // it can prepare for later words, so not: no plan
	p = p.press(main).mustBe("end")
	var verbs []string // the Story's names for the stages, all of which the run went through
	for _, kind := range infer.Kinds {
		verbs = append(verbs, strings.ToLower(stage.English.T("verb."+kind.String())))
	}
	p.says(".say", "the same seven steps: "+strings.Join(verbs, ", ")+".")
	p.says(".say", "it learned nothing from your text")
	p.says(".fr__under", "to save work until") // the columns are not a memory of the learner
	text := p.Find(".prose").Clone().Find(".slot").Remove().End().Text()
	p = p.press(main)
	if p.status != 200 || p.at.Path != "/first/card" || p.Find("h1").Text() != "You wrote this together with a model." {
		t.Fatalf(
			"the end is %d at %s; want p.status = 200, Path = %q, text of h1 = %q", p.status, p.at, "/first/card",
			"You wrote this together with a model.",
		)
	}
	if card := p.Find(".keep .prose").Text(); strings.TrimSpace(card) != strings.TrimSpace(text) {
		t.Errorf("the card has %q, want %q, the last scene %q", card, strings.TrimSpace(text), text)
	}
	if says := s.open("/first?prompt=%D0%96%D0%B8%D0%BB+%D1%81%D1%82%D0%B0%D1%80%D0%B8%D0%BA").mustBe("read").
		Find(".say").Text(); !strings.Contains(says, "this program knows English") {
		t.Errorf("for a Russian text, the page has %q, want a note that the model knows English", says)
	}
	other := s.another().open(p.at.RequestURI())
	if other.Find(".keep").Text() != p.Find(".keep").Text() {
		t.Error("another visitor sees a different card")
	}
	if loop := s.open(p.Find(main).AttrOr("href", "")); loop.status != 200 || loop.at.Path != "/loop" {
		t.Errorf("the Loop has status %d at %s; want loop.status = 200, Path = %q", loop.status, loop.at, "/loop")
	}
	if lesson := s.open(p.Find("main .btn--bare").AttrOr("href", "")); lesson.status != 200 {
		t.Errorf("the lesson has status %d, want 200", lesson.status)
	}
	times := p.Find(".times a")
	for i, want := range []string{"5 minutes", "20 minutes", "60 minutes", "all "} {
		if got := times.Eq(i); !strings.HasPrefix(got.Text(), want) ||
			s.open(got.AttrOr("href", "/none")).status != 200 {
			t.Errorf("the course offers %q, want %s", got.Text(), want)
		}
	}
}

// TestFirstRunHidesAnswersUntilGuessed: before the guess, a page contains no shares, and before the
// draw, it reveals nothing about the draw: for two seeds with different draws, the pages are
// identical except for the link. The test also checks that the later pages contain the answers,
// which shows that it would find them.
func TestFirstRunHidesAnswersUntilGuessed(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	quiet := func(p page, what ...string) {
		t.Helper()
		for _, w := range what {
			if p.Find(w).Length() > 0 {
				t.Errorf("the scene %s contains %s, want it hidden until the guess", p.scene(), w)
			}
		}
	}
	shares := []string{".shares", ".shares__t", ".laid", ".pct", ".map.is-known", ".map__bar rect"}
	draw := []string{".laid__drop", ".is-pick", ".laid__rings", ".map.is-drawn"}
	for _, scene := range []string{"read", "guess"} {
		p := s.to(scene)
		quiet(p, append(shares, draw...)...)
		if strings.Contains(p.Find("main").Text(), "%") {
			t.Errorf("the text of the scene %s mentions a share, want none", scene)
		}
	}
	known := s.to("shares")
	quiet(known, draw...)
	if known.Find(".map.is-known").Length() == 0 {
		t.Error("the map does not show the shares although they are known")
	}
	for scene, commands := range map[string][]session.Command{
		"drop": {oneStage, oneStage, oneStage, withheld},
	} {
		var pages, draws []string
		for seed := range 2 {
			link, _ := linkAt(t, 1+seed, begins, commands...)
			p := s.open(at(scene, link)).mustBe(scene)
			quiet(p, draw...)
			pages = append(pages, strings.ReplaceAll(p.html, link, "LINK"))
			after := p.press(main)
			if after.Find(".laid__drop").Length() != 1 {
				t.Errorf("%s: the marker does not fall when requested", scene)
			}
			draws = append(draws, after.Find(".laid__pin").Text()+after.Find(".laid__pin > svg").AttrOr("x", ""))
		}
		if draws[0] == draws[1] {
			t.Fatalf("%s: both seeds draw %q, so the test compares nothing", scene, draws[0])
		}
		if pages[0] != pages[1] {
			t.Errorf("%s: the page depends on a draw that has not been made", scene)
		}
	}
}

// TestGuessesAreInAlphabeticalOrder: the order of the guesses does not reveal their shares.
func TestGuessesAreInAlphabeticalOrder(t *testing.T) {
	t.Parallel()
	p := newSite(t).to("guess")
	var list []string
	p.Find(pick).Each(func(_ int, b *goquery.Selection) {
		list = append(list, strings.ToLower(strings.TrimLeft(strings.TrimSpace(b.Text()), "·")))
	})
	if len(list) != 6 || list[5] != "something else" {
		t.Fatalf("the guesses are %q, want 6 elements, [5] = %q", list, "something else")
	}
	for i := range 4 {
		if list[i] > list[i+1] {
			t.Errorf("%q comes before %q", list[i], list[i+1])
		}
	}
}

// TestFirstRunResumesFromItsAddress: a visitor can leave the first run at any scene and resume it
// later: in any browser from the scene's address, and in the same browser also from /first or the
// home page.
func TestFirstRunResumesFromItsAddress(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, scene := range []string{"read", "guess", "shares", "bolder", "drop", "joined", "end"} {
		p := s.to(scene)
		main := p.Find("main").Text()
		if again := s.open("/first").mustBe(scene); again.Find("main").Text() != main {
			t.Errorf("/first does not continue with %s", scene)
		}
		if other := s.another().open(p.at.RequestURI()).mustBe(scene); other.Find("main").Text() != main {
			t.Errorf("the address of %s shows a different page", scene)
		}
		if got := s.open("/").Find(".door__back a").AttrOr("href", ""); got != "/first" {
			t.Errorf("the home page leads to %q at the scene %s, want %q", got, scene, "/first")
		}
	}
	s.another().open("/first").Find("#begin").Each(func(_ int, in *goquery.Selection) {
		if in.AttrOr("value", "") != "" {
			t.Error("a newcomer's field is not empty")
		}
	})
}

// TestFirstRunIsOfferedOnce: visitors who have finished or skipped the first run start in
// the Loop. Viewing someone else's card does not count. The sentence is saved for the lessons.
func TestFirstRunIsOfferedOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	leads := func(s site) string { return s.open("/").Find("main form").AttrOr("action", "") }
	end := s.to("end")
	drop := s.another().to("drop")
	loop := drop.press(".fr__ways button")
	if loop.at.Path != "/loop" || loop.link() != drop.link() {
		t.Errorf("skipping leads to %s, want the same run in the Loop", loop.at)
	}
	if got := leads(drop.s); got != "/loop" {
		t.Errorf("after skipping, the field leads to %q, want %q", got, "/loop")
	}
	drop.s.open("/first").mustBeField()
	if drop.s.open("/").Find(".door__back").Length() != 0 {
		t.Error("after skipping, the home page still links back to the first run")
	}
	if got := leads(end.s); got != "/first" {
		t.Errorf("before the card is shown, the field leads to %q, want %q", got, "/first")
	}
	if n := end.s.open("/").Find(".door__again").Length(); n != 0 {
		t.Errorf("before the card is shown, the home page has %d links to another first run, want 0", n)
	}
	card := end.press(main)
	if got := leads(end.s); got != "/loop" {
		t.Errorf("after the card is shown, the field leads to %q, want %q", got, "/loop")
	}
	end.s.open(end.s.open("/").Find(".door__again a").AttrOr("href", "/none")).mustBeField()
	guest := s.another()
	guest.open(card.at.RequestURI())
	if got := leads(guest); got != "/first" {
		t.Errorf("after someone else's card is viewed, the field leads to %q", got)
	}
	t.Run("sentence", func(t *testing.T) { sentenceIsSaved(t, s.another()) })
}

func loopWith(link string) string { return "/loop?" + url.Values{"log": {link}}.Encode() }

// mustBeField fails the test unless the page has the prompt field.
func (p page) mustBeField() {
	p.s.t.Helper()
	if p.status != http.StatusOK || p.Find("#begin").Length() != 1 {
		p.s.t.Errorf("got status %d at %s, want the page with the prompt field", p.status, p.at)
	}
}

// TestBadInputIsExplained: the response to invalid input contains an explanation and a way to
// continue.
func TestBadInputIsExplained(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	read, _ := linkAt(t, 1, begins)
	drawn, _ := linkAt(t, 1, begins, oneStage, oneStage, oneStage, oneStage)
	middle, _ := linkAt(t, 1, begins, oneStage)
	shares, _ := linkAt(t, 1, begins, oneStage, oneStage)
	for name, path := range map[string]string{
		"an unknown scene":            at("nothing", read),
		"a damaged link":              at("read", read[:len(read)/2]),
		"no link":                     at("read", ""),
		"shares before they exist":    at("shares", read),
		"the read of a drawn run":     at("read", drawn),
		"a guess with shares":         at("guess", middle),
		"a guess that is no token":    at("drop", drawn) + "&guess=x",
		"a token that does not exist": at("drop", drawn) + "&guess=99999",
		"a turn elsewhere":            at("shares", shares) + "&turn=grow",
		"a card in the middle":        "/first/card?" + url.Values{"log": {middle}}.Encode(),
	} {
		if p := s.open(path); p.status != 400 || p.Find("main h1").Text() == "" ||
			p.Find("main a[href^='/first']").Length() == 0 {
			t.Errorf(
				"%s: got %d, %q; want p.status = 400, text of main h1 not empty, count of main a[href^='/first'] not 0",
				name, p.status, p.Find("main").Text(),
			)
		}
	}
	for name, form := range map[string]url.Values{
		"no button":              {"scene": {"read"}, "log": {read}},
		"a button of elsewhere":  {"scene": {"read"}, "log": {read}, "do": {"again"}},
		"a guess not offered":    {"scene": {"guess"}, "log": {read}, "do": {"next"}, "guess": {"4000"}},
		"no guess":               {"scene": {"guess"}, "log": {read}, "do": {"next"}},
		"the first page":         {"scene": {"write"}, "do": {"next"}},
		"a turn without a guess": {"scene": {"bolder"}, "log": {shares}, "do": {"next"}},
		"a knob before its time": {"scene": {"read"}, "log": {read}, "do": {"knob"}, "t": {"1"}},
	} {
		if p := s.post("/first/next", form); p.status != 400 {
			t.Errorf("%s: got %d at %s; want 400", name, p.status, p.at)
		}
	}
	for _, at := range []string{"/", "/first?scene=write"} {
		if most := s.open(at).Find("#begin").AttrOr("maxlength", ""); most != "4097" {
			t.Errorf("the field at %s accepts %s characters, want 4097, one more than allowed", at, most)
		}
	}
	// The first text has more bytes than allowed: 4,097 characters. The second has more tokens than
	// the model can read, although it has only 1,200 characters.
	for long, has := range map[string]string{
		strings.Repeat("a", 4097): "4,097 characters", strings.Repeat("日本語", 400): "1,200 characters",
	} {
		p := s.open("/first?" + url.Values{"prompt": {long}}.Encode())
		if say := p.Find("#begin-error").Text(); p.status != 400 || p.Find("#begin").AttrOr("value", "") != long ||
			!strings.Contains(say, has) || strings.Contains(say, "byte") || !strings.Contains(say, "keep a sentence") {
			t.Errorf(
				"a text of %s: got %d %q; want p.status = 400, value of #begin = %q, say with %q, say "+
					"without %q, say with %q",
				has, p.status, say, long, has, "byte", "keep a sentence",
			)
		}
	}
	for _, short := range []string{"", "ab", "      "} {
		p := s.open("/first?" + url.Values{"prompt": {short}}.Encode())
		if p.status != 400 || p.Find("#begin").AttrOr("value", "") != short || p.Find("#begin-error").Text() == "" {
			t.Errorf(
				"the text %q: got %d %q; want p.status = 400, value of #begin = %q, text of #begin-error not empty",
				short, p.status, p.Find("#begin-error").Text(), short,
			)
		}
	}
	one := s.open("/first?" + url.Values{"prompt": {"我"}}.Encode())
	if one.status != 200 || one.Find("#begin").Length() > 0 {
		t.Errorf(
			"a character of three bytes: got %d at %s; want one.status = 200, count of #begin = 0", one.status, one.at,
		)
	}
	if p := s.open("/first/x"); p.status != 404 {
		t.Errorf("an address below /first: got %d, want 404", p.status)
	}
}

// TestKnobKeepsTheAxis: the bars' axis is the same for every knob value, and values outside the
// knob's range are refused.
func TestKnobKeepsTheAxis(t *testing.T) {
	t.Parallel()
	link, _ := linkAt(t, 1, begins, oneStage, oneStage)
	p := newSite(t).open(at("bolder", link)).mustBe("bolder").press(pick).mustBe("bolder")
	// Tokens with shares below half a percent are combined in the last row, so the tick of that row
	// changes.
	ghosts := func(p page) map[string]string {
		list := map[string]string{}
		p.Find(".shares li:not(:last-child)").Each(func(_ int, row *goquery.Selection) {
			list[row.Children().First().Text()] = row.Find(".ghost").AttrOr("x1", "")
		})
		return list
	}
	turn := func(x string) page {
		form := url.Values{"scene": {"bolder"}, "log": {p.link()}, "do": {"knob"}, "t": {x}, "turn": {"shrink"}}
		return p.s.post("/first/next", form)
	}
	safe := turn("0.3").mustBe("bolder")
	both := 0
	for name, x := range ghosts(safe) {
		if want, ok := ghosts(p)[name]; ok && x != "" {
			both++
			if x != want {
				t.Errorf("the tick of %q is at %s, want %s as before", name, x, want)
			}
		}
	}
	if both == 0 {
		t.Error("no row with a tick is on both pages")
	}
	if safe.Find(".shares").Text() == p.Find(".shares").Text() {
		t.Error("the knob does not change any share")
	}
	for _, x := range []string{"", "0", "-1", "9", "NaN", "Inf"} {
		if p := turn(x); p.status != 400 {
			t.Errorf("t = %s: got %d at %s; want 400", x, p.status, p.at)
		}
	}
}
