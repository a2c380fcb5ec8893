package loop

import (
	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/web/stage"
)

// Panel is a part of the page that is replaced as a whole.
type Panel struct {
	ID     string
	Render func(Page) templ.Component
}

// Panels are those of the page in Numbers, in the order in which they stand there.
var Panels = []Panel{
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
	{"whatif-say", func(v Page) templ.Component { return lang.WhatIfSayHTML(v.WhatIf) }},
	{"cost", func(v Page) templ.Component { return costHTML(v.Cost) }},
	{"cost-chart", func(v Page) templ.Component { return costChartHTML(v.Chart) }},
	{"cost-table", func(v Page) templ.Component { return costTableHTML(v.Chart) }},
	{"tokens", func(v Page) templ.Component { return tokensHTML(v.Cost) }},
	{"transport", func(v Page) templ.Component { return transportHTML(v.Console) }},
	{"scrub-say", func(v Page) templ.Component { return scrubSayHTML(v.Console.Scrub) }},
	{"progress", func(v Page) templ.Component { return progressHTML(v.Console.Progress) }},
	{"presets", func(v Page) templ.Component { return presetsHTML(v.Console) }},
	{"filter-note", func(v Page) templ.Component { return filterNoteHTML(v.Console) }},
	{"filter-order", func(v Page) templ.Component { return filterOrderHTML(v.Console) }},
	{"out-temperature", outputOf(FieldTemperature)},
	{"out-top_k", outputOf(FieldTopK)},
	{"out-top_p", outputOf(FieldTopP)},
	{"out-min_p", outputOf(FieldMinP)},
	{"out-typical_p", outputOf(FieldTypicalP)},
	{"out-repetition_penalty", outputOf(FieldRepetition)},
	{"out-frequency_penalty", outputOf(FieldFrequency)},
	{"out-presence_penalty", outputOf(FieldPresence)},
	{"stops-head", func(v Page) templ.Component { return stopsHeadHTML(v.Console) }},
	{"out-max_tokens", func(v Page) templ.Component { return maxTokensHTML(v.Console) }},
	{"stops", func(v Page) templ.Component { return stopsHTML(v.Console) }},
	{"spoken", func(v Page) templ.Component { return spokenHTML(v.Spoken) }},
}

func outputOf(field string) func(Page) templ.Component {
	return func(v Page) templ.Component { return outputHTML(field, v.Console.Out[field]) }
}

// lang is the language of these pages.
var lang = stage.English
