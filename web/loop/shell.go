package loop

import (
	"strings"

	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/stage"
)

var keys = []shell.Key{
	{Cap: "→", Says: "loop.keys.forward"},
	{Cap: "←", Says: "loop.keys.back"},
	{Cap: "N", Says: "loop.keys.token"},
	{Cap: "Space", Says: "loop.keys.play"},
	{Cap: "R", Says: "loop.keys.reset"},
	{Cap: "[", Says: "loop.keys.slower"},
	{Cap: "]", Says: "loop.keys.faster"},
	{Cap: "E", Says: "loop.keys.finish"},
	{Cap: "1 – 7", Says: "loop.keys.stage"},
	{Cap: "T K P M S", Says: "loop.keys.knobs"},
	{Cap: "← →", Says: "loop.keys.tokens"},
	{Cap: "Enter", Says: "loop.keys.start"},
	{Cap: "Enter", Says: "loop.keys.rewind"},
	{Cap: "↓", Says: "loop.keys.alternatives"},
	{Cap: "↑ ↓", Says: "loop.keys.rows"},
	{Cap: "← →", Says: "loop.keys.move"},
	{Cap: "/", Says: "loop.keys.search"},
	{Cap: "?", Says: "shell.key.list"},
	{Cap: "Esc", Says: "shell.key.leave"},
}

var styles = []string{
	"css/loop.css", "css/stage.css", "css/console.css", "css/inside.css", "css/map.css", "css/motion.css",
	"css/carry.css", "css/chain.css", "css/chat.css",
	"css/loop-small.css", "css/touch.css",
}

func shellOf(w stage.Words, v Page) shell.Of {
	if v.View == storyView {
		return storyShell(w, v)
	}
	return shell.Of{
		Title: v.Title, Active: "loop", Class: "page-loop", Skip: w.T("loop.skip.stage"), Mono: true, Embeds: true,
		Data: templ.Attributes{
			"data-run": v.Run, "data-view": string(v.View),
			"data-link": v.Link, "data-stages": strings.Join(terms.StageKeys(), ","),
		},
		Styles:  styles,
		Scripts: []string{"js/loop.js"},
		End:     endHTML(v),
		Keys:    keys,
	}
}
