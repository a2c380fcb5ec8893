package loop

import (
	"slices"

	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/stage"
)

// Panel is a part of the page that is replaced as a whole.
type Panel struct {
	ID     string
	Render func(Page) templ.Component
}

// Panels lists the panels of the page in Numbers, in their order on the page.
var Panels = slices.Concat([]Panel{
	{"strip-prompt", func(v Page) templ.Component { return lang.PromptHTML(v.Strip) }},
	{"strip-label", func(v Page) templ.Component { return lang.GeneratedLabelHTML(v.Strip) }},
	{"strip-next", func(v Page) templ.Component { return lang.NextHTML(v.Strip) }},
	{"peek", func(v Page) templ.Component { return lang.PeekHTML(v.Peek) }},
	{"branch-count", func(v Page) templ.Component { return branchCountHTML(v.Branches) }},
	{"branches", func(v Page) templ.Component { return branchesHTML(v.Branches) }},
	{"rail", func(v Page) templ.Component { return lang.RailHTML(v.Rail) }},
	{"notice", func(v Page) templ.Component { return noticeHTML(v.Notice) }},
	{"branched", func(v Page) templ.Component { return branchedHTML(v.Branched) }},
	{"reading", func(v Page) templ.Component { return readingHTML(v) }},
	{"panel", func(v Page) templ.Component { return lang.HTML(v.Panel) }},
	{"whatif-say", func(v Page) templ.Component { return lang.WhatIfTextHTML(v.WhatIf) }},
	{"cost", func(v Page) templ.Component { return costHTML(v.Cost) }},
	{"cost-chart", func(v Page) templ.Component { return costChartHTML(v.Chart) }},
	{"cost-table", func(v Page) templ.Component { return costTableHTML(v.Chart) }},
	{"tokens", func(v Page) templ.Component { return tokensHTML(v.Cost) }},
	{"transport", func(v Page) templ.Component { return transportHTML(v.Console) }},
	{"scrub-say", func(v Page) templ.Component { return scrubTextHTML(v.Console.Scrub) }},
	{"progress", func(v Page) templ.Component { return progressHTML(v.Console.Progress) }},
	{"presets", func(v Page) templ.Component { return presetsHTML(v.Console) }},
	{"filter-note", func(v Page) templ.Component { return filterNoteHTML(v.Console) }},
	{"filter-order", func(v Page) templ.Component { return filterOrderHTML(v.Console) }},
}, outputPanels, []Panel{
	{"stops-head", func(v Page) templ.Component { return stopsHeadHTML(v.Console) }},
	{"out-max_tokens", func(v Page) templ.Component { return maxTokensHTML(v.Console) }},
	{"stops", func(v Page) templ.Component { return stopsHTML(v.Console) }},
	{"spoken", func(v Page) templ.Component { return spokenHTML(v.Spoken) }},
})

// outputPanels are the panels that describe the values of the sampling knobs.
var outputPanels = func() (list []Panel) {
	for _, k := range terms.Knobs() {
		if _, ok := sampling.Pure.Value(k.Key); ok {
			list = append(list, Panel{"out-" + k.Key, outputOf(k.Key)})
		}
	}
	return list
}()

func outputOf(field string) func(Page) templ.Component {
	return func(v Page) templ.Component { return outputHTML(field, v.Console.Out[field]) }
}

// lang is the language of these pages.
var lang = stage.English
