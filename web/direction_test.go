package web_test

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web"
	"github.com/tokenbytoken/viz/web/webtest"
)

// hebrew and arabic are right-to-left texts with an English word and a number; turned contains a
// mark that reverses the direction of the text after it.
const (
	hebrew = "שלום Transformer 42"
	arabic = "مرحبا Token 7"
	turned = "abc \u202edef"
)

// ownHebrew is an instructor's right-to-left lesson.
const ownHebrew = `---
title: ` + hebrew + `
name: ` + hebrew + `
slug: hebrew
number: 1
minutes: 4
difficulty: gentle
lead: ` + arabic + `
outcomes: [loop]
---

## ` + hebrew + ` {#first}

` + hebrew + ` ` + turned + `

- ` + arabic + `

| ` + hebrew + ` | b |
|---|---|
| ` + arabic + ` | ` + "`" + hebrew + "`" + ` |
`

// TestTextsKeepTheirDirection: on every page that shows text from a person, a model or a file,
// right-to-left text is isolated, so that the words and numbers around it stay in order, and no
// direction mark in it reverses the page's own words.
// Promise: Right-to-left text keeps its order, and so do the words around it.
func TestTextsKeepTheirDirection(t *testing.T) {
	t.Parallel()
	course, err := lessons.LoadTexts(map[string]string{"01-hebrew.md": ownHebrew})
	if err != nil {
		t.Fatal(err)
	}
	base := webtest.Serve(t, webtest.Options{Change: func(c *web.Config) { c.Course = course }})
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: jar}
	room := func() string {
		made, err := client.PostForm(base+"/teach", url.Values{"title": {hebrew}, "nicknames": {"on"}})
		if err != nil {
			t.Fatal(err)
		}
		defer made.Body.Close()
		return strings.TrimSuffix(made.Request.URL.Path, "/made")
	}()
	for _, form := range []url.Values{
		{"cmd": {"start"}, "prompt": {arabic + turned}},
		{"cmd": {"ask-number"}, "prompt": {hebrew}, "unit": {"ס״מ"}},
	} {
		done, err := client.PostForm(base+room+"/do", form)
		if err != nil {
			t.Fatal(err)
		}
		_ = done.Body.Close()
	}
	q := url.QueryEscape
	for path, least := range map[string]int{
		"/loop?prompt=" + q(hebrew+turned):     1,
		"/score?text=" + q(hebrew+"\n"+turned): 1,
		"/first?prompt=" + q(hebrew):           1,
		"/learn":                               1,
		"/learn/hebrew":                        6,
		"/search?q=" + q("שלום"):               1,
		room + "/made":                         1,
		room + "/present":                      2,
		room + "/projector":                    2,
		room + "/summary":                      1,
		room:                                   2,
	} {
		res, err := client.Get(base + path)
		if err != nil {
			t.Fatal(err)
		}
		d, err := goquery.NewDocumentFromReader(res.Body)
		_ = res.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		d.Find("body *").Contents().Each(func(_ int, s *goquery.Selection) {
			text := s.Text()
			if goquery.NodeName(s) != "#text" || s.ParentsFiltered("script, template").Length() > 0 {
				return
			}
			own := s.ParentsFiltered("bdi, [dir], option, svg text").Length() > 0
			if terms.RightToLeft(text) {
				found++
				if !own {
					t.Errorf("%s: %q in <%s> has no direction of its own", path, text, goquery.NodeName(s.Parent()))
				}
			}
			if strings.Contains(text, "\u202e") && !own {
				t.Errorf("%s: %q reverses the words next to it", path, text)
			}
		})
		if found < least {
			t.Errorf("%s: got %d right-to-left texts, want at least %d", path, found, least)
		}
		if title := d.Find("title").Text(); terms.RightToLeft(title) != strings.Contains(title, "\u2068") {
			t.Errorf("%s: the title %q is not isolated", path, title)
		}
	}
}
