package labs

import (
	"container/list"
	"sync"

	"github.com/tokenbytoken/viz/infer/lab"
)

// keptReports is how many reports a server keeps for reloaded pages and for
// downloads.
const keptReports = 64

// kept holds the newest reports, by learner, lab and values.
type kept struct {
	mu    sync.Mutex
	most  int
	order *list.List // of *keptReport, the newest first
	by    map[string]*list.Element
}

type keptReport struct {
	key    string
	report *lab.Report
}

func newKept(most int) *kept {
	return &kept{most: most, order: list.New(), by: map[string]*list.Element{}}
}

func keyOf(learner string, i lab.Info, v lab.Values) string {
	return learner + "\n" + i.Name + "\n" + queryOf(i, v).Encode()
}

// keep stores a report, and drops the oldest if there are too many.
func (k *kept) keep(learner string, i lab.Info, r *lab.Report) {
	key := keyOf(learner, i, r.Values)
	k.mu.Lock()
	defer k.mu.Unlock()
	if e, ok := k.by[key]; ok {
		k.order.Remove(e)
	}
	k.by[key] = k.order.PushFront(&keptReport{key, r})
	if k.order.Len() > k.most {
		last := k.order.Back()
		delete(k.by, k.order.Remove(last).(*keptReport).key)
	}
}

// find returns the report of a learner's run with these values, or nil.
func (k *kept) find(learner string, i lab.Info, v lab.Values) *lab.Report {
	k.mu.Lock()
	defer k.mu.Unlock()
	e, ok := k.by[keyOf(learner, i, v)]
	if !ok {
		return nil
	}
	k.order.MoveToFront(e)
	return e.Value.(*keptReport).report
}
