package loop

import (
	"strings"

	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/shell"
)

var keys = []shell.Key{
	{Cap: "→", Says: "stage forward"},
	{Cap: "←", Says: "stage back"},
	{Cap: "N", Says: "next token"},
	{Cap: "Space", Says: "play, pause"},
	{Cap: "R", Says: "back to the prompt"},
	{Cap: "[", Says: "slower"},
	{Cap: "]", Says: "faster"},
	{Cap: "E", Says: "run to the end"},
	{Cap: "1 – 7", Says: "look at a stage already done"},
	{Cap: "T K P M S", Says: "go to temperature, top-k, top-p, min-p, seed"},
	{Cap: "← →", Says: "on a token: the one before, after"},
	{Cap: "Enter", Says: "in the prompt: start; with Shift a new line"},
	{Cap: "Enter", Says: "on a token: rewind to its draw"},
	{Cap: "↓", Says: "on a token: into its alternatives"},
	{Cap: "↑ ↓", Says: "in the table: work another row"},
	{Cap: "← →", Says: "on a rule of stage 4: move it"},
	{Cap: "/", Says: "search the lessons"},
	{Cap: "?", Says: "this list"},
	{Cap: "Esc", Says: "shell.key.leave"},
}

var styles = []string{
	"css/loop.css", "css/stage.css", "css/console.css", "css/inside.css", "css/map.css", "css/motion.css",
	"css/carry.css", "css/chain.css", "css/chat.css",
	"css/loop-small.css", "css/touch.css",
}

func shellOf(v Page) shell.Of {
	if v.View == storyView {
		return storyShell(v)
	}
	return shell.Of{
		Title: v.Title, Active: "loop", Class: "page-loop", Skip: "Skip to the stage", Mono: true, Embeds: true,
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
