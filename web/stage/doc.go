// Package stage describes and draws the stages of the loop: token chips, the text as a strip,
// the rail of stages, the table of tokens, the bar from 0 to 1, the cache, and the sentences
// that go with them. The Loop, the home page, the lessons' experiments, classes and the terminal
// all share these.
//
// Everything except the components is a pure function of a *session.State or of a stage of the
// engine: rounding, shortening, the marks for white space, the color class of a probability, the
// sentence of each stage, and the text alternative of a picture. Every number comes from the
// engine's stages. This package only computes sums and shares of these numbers, and positions on
// the page.
//
// [Words.New] returns the view of a stage, [Words.NewStrip] the text so far, [Words.NewRail]
// the list of stages and [Words.NewMap] the map of the model, whose rows are blocks and whose
// columns are tokens. The components, whose names end in HTML, only lay out these views. They do
// not compute numbers or apply thresholds. A component that is sent again when it changes renders
// exactly one element with an id.
//
// Sizes and positions are SVG attributes, because the page's security policy forbids style
// attributes and scripts within the markup.
package stage
