package learn

import (
	"context"
	"net/http"

	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/stage"
)

// reference handles GET /reference, which shows the course on one page, with its references.
func (p *Pages) reference(w http.ResponseWriter, r *http.Request) {
	course := p.Course.In(r.Context())
	p.HTML(w, r, http.StatusOK, referenceHTML(course, p.sheetParts(r.Context(), course.Sheet)))
}

// checked handles GET /checked, which lists figures that differ from those in other publications.
func (p *Pages) checked(w http.ResponseWriter, r *http.Request) {
	sheet := p.Course.In(r.Context()).Checked
	p.HTML(w, r, http.StatusOK, checkedHTML(sheet, p.sheetParts(r.Context(), sheet)))
}

// sheetParts returns a sheet's sections with their blocks laid out.
func (p *Pages) sheetParts(ctx context.Context, sheet *lessons.Sheet) []lessonSection {
	if sheet == nil {
		return nil
	}
	var list []lessonSection
	for _, s := range sheet.Sections {
		ls := lessonSection{Section: s}
		for _, b := range s.Blocks {
			ls.Parts = append(ls.Parts, p.block(ctx, nil, b, nil, shell.Numbers, ""))
		}
		list = append(list, ls)
	}
	return list
}

// glossary handles GET /glossary.
func (p *Pages) glossary(w http.ResponseWriter, r *http.Request) {
	p.HTML(w, r, http.StatusOK, glossaryHTML(p.Course.In(r.Context())))
}

// titleOf returns a section's name for a link: "The loop: Five steps".
func titleOf(w stage.Words, c *lessons.Course, where string) string {
	const base = "/learn/"
	if len(where) <= len(base) {
		return ""
	}
	s := c.Section(where[len(base):])
	if s == nil {
		return ""
	}
	return w.T("learn.glossary.where", "lesson", c.Lesson(s.Lesson).Name, "section", s.Title)
}
