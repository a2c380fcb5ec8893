// Package lessons is the course: explanations, experiments, questions and
// cards, written as Markdown in infer/languages and built into the program.
//
// [Load] reads the folder of each language in two passes. The first splits every file into sections and directives
// and collects link targets. The second renders each text as safe HTML and checks it: link targets
// must exist, a widget must be known, its settings must be in range, a formula must have been
// rendered, and a figure must be computable. Any problem is an error that names the file and the
// line, and Load returns no course, so a page never shows a broken lesson.
//
// [LoadWith] adds the files in an instructor's folder, which use the same dialect.
//
// # The dialect
//
// The dialect is Markdown without HTML and images, plus:
//
//	## Heading {#id}                      a section
//	::: widget KIND id=ID key="value"     a live experiment; the text is its caption. ask=NAME asks
//	                                      a question first (widgetQuestions lists their names)
//	::: picture STATE key="value"         the picture beside the text changes here; the text is its caption.
//	                                      needs=NAME is a claim about the sentence (see PictureNeed)
//	::: notice                            what to notice, after a widget
//	::: numbers of what                   behind “Show the numbers”, closed at first
//	::: more Title                        like numbers, with its own title
//	::: slip Title                        also pitfall, care, small-model
//	::: note                              in the margin
//	::: check QUESTION                    a question of quiz.md, about this section or an earlier lesson
//	:::                                   ends any of these
//	$x$ or, on separate lines, $$x$$      TeX, rendered beforehand to MathML
//	{=softmax(T=0.5).the 4}               a figure, computed when loaded
//	`·the` or `the`{.tk}                  a token
//	[@vaswani2017]                        a citation
//	[[kv-cache|the cache]]                a term of the glossary: its note opens in place
//	[text](learn:slug#id)                 also loop:, practice:, quiz:, cards:, card:, term:, reference:, why:, lab:
//	[1,024]{.given}                       a given fact; {.given} before a table marks all of it
//
// Numbers that can be computed are never typed: figures call the same functions of infer/sampling
// and infer/cost that the engine calls. `go generate ./lessons` renders formulas to MathML (see the
// folder gen), so pages need no script for them.
package lessons

//go:generate go run ./gen
