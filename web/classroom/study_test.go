package classroom_test

import (
	"encoding/csv"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/classroom"
	"github.com/tokenbytoken/viz/web/coursework"
	"github.com/tokenbytoken/viz/web/webtest"
)

// studyKitIsComplete checks that the class page links to the study kit, which contains the question, all
// codes, all columns of the table and the consent text. On the answer sheets, each participant has a
// code of their own, for both questions.
func studyKitIsComplete(t *testing.T, p *person) {
	t.Helper()
	const address = "/teach/study"
	if p.get("/teach").Find(`a[href="`+address+`"]`).Length() != 1 {
		t.Errorf("the class page has no link to %s", address)
	}
	page, question := p.get(address), webtest.Course(t).Question(coursework.StudyQuestion).PromptText
	var codes []string
	page.Find(".codes tbody tr").Each(func(_ int, row *goquery.Selection) {
		codes = append(codes, words(row.Find("th")))
		row.Find("td").Each(func(i int, cell *goquery.Selection) {
			if words(cell) == "" {
				t.Errorf("the code %s has no text in column %d", words(row.Find("th")), i+2)
			}
		})
	})
	if !slices.Equal(codes, coursework.StudyCodes) {
		t.Errorf("the coding scheme has the codes %q, want %q", codes, coursework.StudyCodes)
	}
	columns := page.Find(".columns dt").Map(func(_ int, dt *goquery.Selection) string { return words(dt) })
	if !slices.Equal(columns, coursework.StudyColumns) {
		t.Errorf("the page describes the columns %q, want %q", columns, coursework.StudyColumns)
	}
	// (0.85 - 0.3) / (1 - 0.3) = 0.55 / 0.7 = 0.7857
	for where, want := range map[string]string{
		".pgoal": question, ".consent": question, "main": "With a = 0.85 and c = 0.30, κ is 0.79.",
	} {
		if got := words(page.Find(where)); !strings.Contains(got, want) {
			t.Errorf("%s is %q, want %q in it", where, got, want)
		}
	}
	for query, want := range map[string]int{"": 30, "?n=x": 30, "?n=0": 1, "?n=3": 3, "?n=9999": 200} {
		sheets := p.get(address + "/sheet" + query).Find(".halves")
		list := sheets.Map(func(_ int, s *goquery.Selection) string { return words(s.Find("code").First()) })
		twice := sheets.FilterFunction(func(i int, s *goquery.Selection) bool {
			return s.Find(".half").Length() == 2 && words(s.Find("code").Last()) == list[i]
		})
		slices.Sort(list)
		if n := len(slices.Compact(list)); n != want || twice.Length() != want || sheets.Length() != want {
			t.Errorf("%q has %d sheets with %d codes, %d of them on both halves; want %d", query,
				sheets.Length(), n, twice.Length(), want)
		}
	}
}

// studyTableHasNoNames checks the table of a class that is asked a question three times. The first and
// the last choice of each person have the same code. The table contains neither nicknames nor times, and
// only the instructor gets it.
func studyTableHasNoNames(t *testing.T, base string) {
	t.Helper()
	p, code := instructor(t, base, url.Values{"nicknames": {"on"}})
	people := []*person{newPerson(t, base), newPerson(t, base)}
	for i, f := range people {
		f.get("/class/" + code)
		f.post("/class/"+code+"/name", url.Values{"name": {[]string{"Ada", "Zoe"}[i]}})
	}
	// Keys are the letters of the choices: the first is copied, the fourth patterns, the fifth unknown.
	for _, round := range [][2]string{{"a", "e"}, {"b", "b"}, {"d", "a"}} {
		p.do(code, "ask-question", "id", coursework.StudyQuestion)
		for i, f := range people {
			ask := f.get("/class/" + code)
			f.post("/class/"+code+"/vote", url.Values{
				"poll": {ask.Find("input[name=poll]").AttrOr("value", "")}, "choice": {round[i]},
			})
		}
		p.do(code, "close")
		if got := words(people[0].get("/class/" + code).Find("main")); strings.Contains(got, "50%") {
			t.Errorf("after a vote that was closed without a result, a phone shows %q", got)
		}
		p.do(code, "dismiss")
	}
	if p.get("/class/"+code+"/summary").Find(`a[href="/class/`+code+`/study.csv"]`).Length() != 1 {
		t.Error("the summary has no link to the table")
	}
	text := p.get("/class/" + code + "/study.csv").text
	rows, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(text, "\uFEFF"))).ReadAll()
	if err != nil || len(rows) != 1+4 || !slices.Equal(rows[0], coursework.StudyColumns) {
		t.Fatalf("got the rows %q, %v; want a heading and 4", rows, err)
	}
	if !slices.IsSortedFunc(rows[1:], func(a, b []string) int { return strings.Compare(a[0], b[0]) }) {
		t.Errorf("the rows are %q, want them sorted by participant, which hides the order of joining", rows[1:])
	}
	got := map[string]string{}
	for _, row := range rows[1:] {
		if _, err := time.Parse(time.DateOnly, row[1]); err != nil {
			t.Errorf("a day is %q, want a date: %v", row[1], err)
		}
		got[row[0]] += row[2] + " " + row[5] + " " + row[6] + ";"
	}
	for _, want := range []string{
		"opening copied false;closing patterns true;", "opening unknown false;closing copied false;",
	} {
		found := false
		for _, answers := range got {
			found = found || answers == want
		}
		if !found {
			t.Errorf("the answers by participant are %q, want %q for one of them", got, want)
		}
	}
	if strings.Contains(text, "Ada") || strings.Contains(text, "Zoe") {
		t.Errorf("the table contains a nickname: %s", text)
	}
	refused := people[0].send(http.MethodGet, "/class/"+code+"/study.csv", nil, nil)
	if refused.status != http.StatusForbidden {
		t.Errorf("a member's request for the table: got the status %d, want %d", refused.status, http.StatusForbidden)
	}
}

// TestStudyIgnoresPollsWithoutVotes: a poll in which nobody voted is neither the opening nor the closing
// of a study.
func TestStudyIgnoresPollsWithoutVotes(t *testing.T) {
	t.Parallel()
	course := webtest.Course(t)
	text := course.Question(coursework.StudyQuestion).PromptText
	for _, c := range []struct {
		votes string // the choice of the one member in each poll; "-" for a poll without votes
		want  string
	}{
		{"ab", "opening 0, closing 1"},
		{"-ab", "opening 0, closing 1"},
		{"a-b", "opening 0, closing 1"},
		{"ab-", "opening 0, closing 1"},
		{"acb", "opening 0, closing 1"},
		{"-a", "opening 0"},
		{"a-", "opening 0"},
		{"--", ""},
	} {
		s := class.Summary{Letters: map[int]string{}}
		for i, vote := range c.votes {
			s.Polls = append(s.Polls, class.PollSummary{Text: text})
			if vote != '-' {
				s.Letters[i] = string(vote)
			}
		}
		var got []string
		for _, a := range classroom.StudyAnswers(t.Context(), course, &s) {
			phase := map[bool]string{false: "opening ", true: "closing "}[a.Closing]
			got = append(got, phase+strconv.Itoa(a.Choice))
		}
		if got := strings.Join(got, ", "); got != c.want {
			t.Errorf("after the votes %q: got %q, want %q", c.votes, got, c.want)
		}
	}
}
