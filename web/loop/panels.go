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
	Render func(stage.Words, Page) templ.Component
}

// Panels lists the panels of the page in Numbers.
var Panels = slices.Concat(stagePanels, besidePanels)

// stagePanels are the stage, the text, the rail and the buttons, in their order on the page.
var stagePanels = []Panel{
	{"strip-prompt", func(w stage.Words, v Page) templ.Component { return w.PromptHTML(v.Strip) }},
	{"strip-label", func(w stage.Words, v Page) templ.Component { return w.GeneratedLabelHTML(v.Strip) }},
	{"strip-next", func(w stage.Words, v Page) templ.Component { return w.NextHTML(v.Strip) }},
	{"peek", func(w stage.Words, v Page) templ.Component { return w.PeekHTML(v.Peek) }},
	{"rail", func(w stage.Words, v Page) templ.Component { return w.RailHTML(v.Rail) }},
	{"notice", func(_ stage.Words, v Page) templ.Component { return noticeHTML(v.Notice) }},
	{"branched", func(_ stage.Words, v Page) templ.Component { return branchedHTML(v.Branched) }},
	{"reading", func(_ stage.Words, v Page) templ.Component { return readingHTML(v) }},
	{"panel", func(w stage.Words, v Page) templ.Component { return w.HTML(v.Panel) }},
	{"whatif-say", func(w stage.Words, v Page) templ.Component { return w.WhatIfTextHTML(v.WhatIf) }},
	{"transport", func(_ stage.Words, v Page) templ.Component { return transportHTML(v.Console) }},
	{"progress", func(_ stage.Words, v Page) templ.Component { return progressHTML(v.Console.Progress) }},
	{"spoken", func(_ stage.Words, v Page) templ.Component { return spokenHTML(v.Spoken) }},
}

// besidePanels are the other parts of the page: the costs, the text as prose, the settings, and the
// worked lines of the rows. They are sent, and shown, after the stage.
var besidePanels = slices.Concat([]Panel{
	{"work-lines", func(_ stage.Words, v Page) templ.Component { return stage.WorkLinesHTML(v.Panel) }},
	{"branch-count", func(_ stage.Words, v Page) templ.Component { return branchCountHTML(v.Branches) }},
	{"branches", func(_ stage.Words, v Page) templ.Component { return branchesHTML(v.Branches) }},
	{"cost", func(_ stage.Words, v Page) templ.Component { return costHTML(v.Cost()) }},
	{"cost-chart", func(_ stage.Words, v Page) templ.Component { return costChartHTML(v.Chart) }},
	{"cost-table", func(_ stage.Words, v Page) templ.Component { return costTableHTML(v.Chart) }},
	{"tokens", func(_ stage.Words, v Page) templ.Component { return tokensHTML(v.Cost()) }},
	{"scrub-say", func(_ stage.Words, v Page) templ.Component { return scrubTextHTML(v.Console.Scrub) }},
	{"presets", func(_ stage.Words, v Page) templ.Component { return presetsHTML(v.Console) }},
	{"filter-note", func(_ stage.Words, v Page) templ.Component { return filterNoteHTML(v.Console) }},
	{"filter-order", func(_ stage.Words, v Page) templ.Component { return filterOrderHTML(v.Console) }},
	{"stops-head", func(_ stage.Words, v Page) templ.Component { return stopsHeadHTML(v.Console) }},
	{"out-max_tokens", func(_ stage.Words, v Page) templ.Component { return maxTokensHTML(v.Console) }},
	{"stops", func(_ stage.Words, v Page) templ.Component { return stopsHTML(v.Console) }},
}, outputPanels)

// outputPanels are the panels that describe the values of the sampling knobs.
var outputPanels = func() (list []Panel) {
	for _, k := range terms.Knobs() {
		if _, ok := sampling.Pure.Value(k.Key); ok {
			list = append(list, Panel{"out-" + k.Key, outputOf(k.Key)})
		}
	}
	return list
}()

func outputOf(field string) func(stage.Words, Page) templ.Component {
	return func(_ stage.Words, v Page) templ.Component { return outputHTML(field, v.Console.Out[field]) }
}
