package progress

import (
	"context"

	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/progress/saved"
)

// Export returns all data of a learner as a JSON file that [Store.Import] accepts.
func (s *Store) Export(ctx context.Context, learnerID string) ([]byte, error) {
	f := saved.File{Exported: s.time()}
	if err := s.use(ctx, learnerID, func(l *learner) error { return read(ctx, l, &f) }); err != nil {
		return nil, err
	}
	return f.Encode()
}

// read reads all entries of a learner, in the order in which a file lists them.
func read(ctx context.Context, l *learner, to *saved.File) error {
	err := l.Read(ctx, func(r journal.Record) error {
		switch e, err := saved.Read(r.Type, r.Data); {
		case err != nil, r.Type == saved.TypeVisit, r.Type == saved.TypeSetting:
			return nil // skip unreadable records; the newest visits and settings come from the state
		default:
			to.Put(e)
			return nil
		}
	})
	if err != nil {
		return err
	}
	for section, v := range l.State().Visits {
		to.Put(v.entry(section))
	}
	for name, x := range l.State().Settings {
		to.Put(saved.Setting{Name: name, Value: x.Value})
	}
	to.Sort()
	return nil
}
