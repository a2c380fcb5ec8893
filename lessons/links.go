package lessons

import (
	"regexp"
	"slices"
	"strings"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons/drill"
)

func termHref(id string) string      { return "/glossary#" + id }
func referenceHref(id string) string { return "/reference#ref-" + id }
func cardHref(id string) string      { return "/cards#" + id }
func questionHref(id string) string  { return "/quiz?all=1#" + id }
func sheetHref(id string) string     { return "/reference#" + id }
func checkedHref(id string) string   { return "/checked#" + id }

// pages maps links that consist only of a scheme to addresses.
var pages = map[string]string{
	"learn:": "/learn", "practice:": "/practice", "quiz:": "/quiz", "cards:": "/cards",
	"reference:": "/reference", "glossary:": "/glossary", "loop:": "/loop", "progress:": "/progress",
	"predict:": "/practice/predict", "checked:": "/checked", "why:": "/why",
}

// whyParts matches a list of switched-off parts, such as "L6.H1,L4.ffn,pos:0"; labName matches a
// lab's name.
var (
	whyParts = regexp.MustCompile(
		`^(L[1-9](\.(H[1-9]|ffn))?|pos:\d{1,3})(,(L[1-9](\.(H[1-9]|ffn))?|pos:\d{1,3}))*$`,
	)
	labName = regexp.MustCompile(`^[a-z]+$`)
)

// resolve turns a link of the dialect into an address within the site: "learn:slug#id", "loop:key",
// "practice:drill", "quiz:id", "card:id" (or "cards:id"), "term:id", "reference:id", "ref:id",
// "lab:name", and "why:parts" with the parts that are switched off. ok is false if the target does
// not exist. For parts and labs, resolve checks only the syntax; the server's tests follow those
// links.
func (l *loader) resolve(to string) (href string, ok bool) {
	for _, way := range []string{to, canonical(to)} {
		if href, ok := pages[way]; ok {
			return href, true
		}
	}
	switch scheme, rest, _ := strings.Cut(to, ":"); {
	case scheme == "why" && whyParts.MatchString(rest):
		return "/why?off=" + rest, true
	case scheme == "lab" && labName.MatchString(rest):
		return "/labs/" + rest, true
	}
	if !l.targets[canonical(to)] {
		return "", false
	}
	scheme, rest, _ := strings.Cut(canonical(to), ":")
	switch scheme {
	case "learn":
		return "/learn/" + rest, true
	case "loop":
		return "/loop?start=" + rest, true
	case "practice":
		return "/practice/" + rest, true
	case "quiz":
		return questionHref(rest), true
	case "card":
		return cardHref(rest), true
	case "term":
		return termHref(rest), true
	case "ref":
		return referenceHref(rest), true
	case "checked":
		return checkedHref(rest), true
	}
	return sheetHref(rest), true
}

// canonical converts the alternative notations of a link to one form.
func canonical(to string) string {
	scheme, rest, ok := strings.Cut(to, ":")
	if !ok {
		return to
	}
	if to == "ref:sheet" {
		return "reference:"
	}
	if other, ok := map[string]string{
		"cards": "card", "drill": "practice", "question": "quiz", "glossary": "term",
	}[scheme]; ok {
		scheme = other
	}
	return scheme + ":" + rest
}

// target adds a link target. It reports a problem if the target already exists.
func (l *loader) target(at position, to string) {
	if l.targets[to] {
		_, id, _ := strings.Cut(to, ":")
		l.problems.add(at, "duplicate id %q", id)
	}
	l.targets[to] = true
}

// drills adds the drills, which the program defines, as link targets.
func (l *loader) drills() {
	for _, d := range drill.Kinds(terms.English) {
		l.targets["practice:"+string(d.Kind)] = true
	}
}

// nearest suggests the intended target of a wrong link.
func (l *loader) nearest(to string) string {
	scheme, rest, ok := strings.Cut(canonical(to), ":")
	if !ok {
		return "; links begin with learn:, loop:, practice:, quiz:, card:, term: or reference:"
	}
	_, id, _ := strings.Cut(rest, "#")
	var near []string
	for t := range l.targets {
		if strings.HasPrefix(t, scheme+":") && id != "" && strings.HasSuffix(t, "#"+id) {
			near = append(near, t)
		}
	}
	if len(near) == 0 {
		return ""
	}
	slices.Sort(near)
	return "; did you mean " + near[0] + "?"
}
