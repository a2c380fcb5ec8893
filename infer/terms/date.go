package terms

import (
	"strconv"
	"time"
)

// Date formats a date: "January 2, 2006".
func (l *Language) Date(t time.Time) string {
	return l.T(
		"date.day", "day", strconv.Itoa(t.Day()), "month", l.T("date.month."+strconv.Itoa(int(t.Month()))),
		"year", strconv.Itoa(t.Year()),
	)
}

// DateTime formats a date with the time: "January 2, 2006, 15:04".
func (l *Language) DateTime(t time.Time) string {
	return l.T("date.time", "date", l.Date(t), "time", t.Format("15:04"))
}
