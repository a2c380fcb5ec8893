package classroom

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/lessons/drill"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/coursework"
	"github.com/tokenbytoken/viz/web/progress"
	"github.com/tokenbytoken/viz/web/stage"
)

// An instructor assigns tasks to a class and sees the results on the summary page. A learner
// sees the list of tasks and hands in the results that the server has saved for them.

// assignPage is the page on which an instructor chooses tasks.
type assignPage struct {
	Title, Code    string
	Lessons, Drill []coursework.Task
	Chosen         []string
	Names          bool
}

// assign handles GET /class/CODE/assign.
func (p *Pages) assign(w http.ResponseWriter, r *http.Request) {
	room, _, who, ok := p.taught(w, r)
	if !ok {
		return
	}
	a, err := room.Assignment(r.Context(), who)
	if err != nil {
		p.fail(w, r, err)
		return
	}
	title := class.TextIn(terms.In(r.Context()), a.Title)
	v := assignPage{Title: title, Code: room.Code(), Chosen: a.Tasks, Names: a.Names}
	m := coursework.NewMap(p.Course.In(r.Context()), progress.Map{})
	v.Lessons, v.Drill = coursework.Tasks(terms.In(r.Context()), m, nil)
	p.HTML(w, r, http.StatusOK, assignHTML(v))
}

// workPage is a learner's page for an assignment.
type workPage struct {
	class.Assignment
	Code, Key      string
	Lessons, Drill []coursework.Task
	Done, Of       int
	Just           bool // the results were handed in just now
}

func workPath(code, key string) string {
	return roomPath(code) + "/assigned?key=" + url.QueryEscape(key)
}

// work handles GET /class/CODE/assigned, which shows the tasks and the learner's progress.
func (p *Pages) work(w http.ResponseWriter, r *http.Request) {
	who, q := p.caller(w, r), r.URL.Query()
	room, err := p.Hub.Assigned(class.NormalCode(r.PathValue("code")), q.Get("key"), who)
	if err != nil {
		p.failWork(w, r, err)
		return
	}
	v, err := p.workOf(r, room, who.Learner)
	if err != nil {
		p.fail(w, r, err)
		return
	}
	v.Just = q.Has("done")
	p.HTML(w, r, http.StatusOK, workHTML(v))
}

func (p *Pages) workOf(r *http.Request, room class.Room, learner string) (v workPage, err error) {
	v = workPage{Code: room.Code(), Key: room.WorkKey()}
	if v.Assignment, err = room.Assignment(r.Context(), learner); err != nil {
		return v, err
	}
	v.Title = class.TextIn(terms.In(r.Context()), v.Title)
	m, err := p.Progress.Map(r.Context(), learner)
	if err != nil {
		return v, err
	}
	read, drills := coursework.Tasks(terms.In(r.Context()), coursework.NewMap(p.Course.In(r.Context()), m), m.Drills)
	v.Lessons, v.Drill = coursework.Only(read, v.Tasks), coursework.Only(drills, v.Tasks)
	for _, t := range slices.Concat(v.Lessons, v.Drill) {
		if v.Of++; t.Done {
			v.Done++
		}
	}
	return v, nil
}

// handIn handles the form that learners use to hand in results.
func (p *Pages) handIn(w http.ResponseWriter, r *http.Request) {
	if !p.Form(w, r) {
		return
	}
	who, fresh := p.Caller(r)
	if fresh != nil { // the page set a cookie, but the browser did not keep it
		p.fail(w, r, terms.Refuse(class.CodeCookie, "class.refused.cookie.work"))
		return
	}
	room, err := p.Hub.Assigned(class.NormalCode(r.PathValue("code")), r.PostForm.Get("key"), who)
	if err != nil {
		p.failWork(w, r, err)
		return
	}
	v, err := p.workOf(r, room, who.Learner)
	if err != nil {
		p.fail(w, r, err)
		return
	}
	slips, err := p.Progress.Slips(r.Context(), who.Learner)
	if err != nil {
		p.fail(w, r, err)
		return
	}
	var work class.Work
	for _, t := range slices.Concat(v.Lessons, v.Drill) {
		if t.Done {
			work.Done = append(work.Done, t.Key)
		}
	}
	for _, s := range slips {
		if task := coursework.TaskOf(p.Course, s); slices.Contains(v.Tasks, task) {
			work.Slips = append(work.Slips, task+":"+slipKey(s))
		}
	}
	if err := room.HandIn(r.Context(), who, r.PostForm.Get("nick"), work); err != nil {
		p.fail(w, r, err)
		return
	}
	http.Redirect(w, r, workPath(room.Code(), room.WorkKey())+"&done=1", http.StatusSeeOther)
}

// failWork responds to an invalid link to an assignment.
func (p *Pages) failWork(w http.ResponseWriter, r *http.Request, err error) {
	if err == class.ErrNoRoom {
		words := stage.In(r.Context())
		p.Refuse(w, r, http.StatusNotFound, words.T("class.work.missing"), words.T("class.work.missing.say"))
		return
	}
	p.fail(w, r, err)
}

// slipKey encodes a mistake in a task; slipText describes it for an instructor. slipText
// returns "" for a mistake that is not in this course.
func slipKey(s progress.Slip) string {
	if s.Drill != "" {
		return string(s.Mistake)
	}
	return s.Question + "." + strconv.Itoa(s.Choice+1)
}

func slipText(w stage.Words, course *lessons.Course, key string) string {
	if name := drill.Mistake(key).Name(w.Language); name != "" {
		return name
	}
	id, choice, _ := strings.Cut(key, ".")
	n, err := strconv.Atoi(choice)
	for _, q := range course.Questions {
		if err == nil && q.ID == id && n >= 1 && n <= len(q.Choices) {
			return w.T(
				"class.assigned.choice", "choice", oneLine(q.Choices[n-1].Text), "question", oneLine(q.PromptText),
			)
		}
	}
	return ""
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// workSummary summarizes the results for the instructor.
type workSummary struct {
	*class.AssignedSummary
	Link  string
	Tasks []workTask
	Slips []workSlip
}

type workTask struct{ Title, Done, Bar string }

type workSlip struct {
	Task, Say string
	Members   int
}

// shownSlips is the maximum number of mistakes that a summary lists.
const shownSlips = 8

func newWorkSummary(
	w stage.Words, course *lessons.Course, a *class.AssignedSummary, link string,
) *workSummary {
	if a == nil {
		return nil
	}
	v := &workSummary{AssignedSummary: a, Link: link}
	titles := map[string]string{}
	read, drills := coursework.Tasks(w.Language, coursework.NewMap(course, progress.Map{}), nil)
	for _, t := range append(read, drills...) { // in the order of the course
		i := slices.IndexFunc(a.Tasks, func(x class.TaskSummary) bool { return x.Task == t.Key })
		if i < 0 {
			continue
		}
		titles[t.Key] = t.Title
		done := a.Tasks[i].Done
		v.Tasks = append(v.Tasks, workTask{
			t.Title, w.T("class.assigned.of", "done", done, "all", a.HandedIn),
			sized(share(done, a.HandedIn)),
		})
	}
	for _, s := range a.Slips {
		if say := slipText(w, course, s.Slip); say != "" && len(v.Slips) < shownSlips {
			v.Slips = append(v.Slips, workSlip{titles[s.Task], say, s.Members})
		}
	}
	return v
}
