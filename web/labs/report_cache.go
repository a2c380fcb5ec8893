package labs

import (
	"container/list"
	"sync"

	"github.com/tokenbytoken/viz/infer/lab"
	"github.com/tokenbytoken/viz/infer/terms"
)

// cachedReports is the number of reports that a server keeps for reloaded pages and downloads.
const cachedReports = 64

// reportCache holds the newest reports, by learner, lab and values.
type reportCache struct {
	mu    sync.Mutex
	most  int
	order *list.List // elements are *keptReport, newest first
	by    map[string]*list.Element
}

type cachedReport struct {
	key    string
	report *lab.Report
}

func newReportCache(most int) *reportCache {
	return &reportCache{most: most, order: list.New(), by: map[string]*list.Element{}}
}

func keyOf(learner string, i lab.Info, v terms.Values) string {
	return learner + "\n" + i.Name + "\n" + queryOf(i, v).Encode()
}

// keep stores a report, and drops the oldest report if there are too many.
func (k *reportCache) keep(learner string, i lab.Info, r *lab.Report) {
	key := keyOf(learner, i, r.Values)
	k.mu.Lock()
	defer k.mu.Unlock()
	if e, ok := k.by[key]; ok {
		k.order.Remove(e)
	}
	k.by[key] = k.order.PushFront(&cachedReport{key, r})
	if k.order.Len() > k.most {
		last := k.order.Back()
		delete(k.by, k.order.Remove(last).(*cachedReport).key)
	}
}

// find returns the report of a learner's run with these values, or nil.
func (k *reportCache) find(learner string, i lab.Info, v terms.Values) *lab.Report {
	k.mu.Lock()
	defer k.mu.Unlock()
	e, ok := k.by[keyOf(learner, i, v)]
	if !ok {
		return nil
	}
	k.order.MoveToFront(e)
	return e.Value.(*cachedReport).report
}
