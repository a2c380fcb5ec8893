package records

import (
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/store"
)

// NotKept returns [class.ErrKept], which includes the reason if the disk is the cause. Errors that
// already include the reason are returned unchanged.
func NotKept(err error) error {
	if refused, ok := terms.AsRefusal(err); ok && refused.Code == class.CodeKept {
		return err
	}
	if why := store.Why(err); why != "" {
		return terms.Refuse(class.CodeKept, "class.refused.not_saved.why", "why", why)
	}
	return class.ErrKept
}
