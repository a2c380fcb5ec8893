package room

import (
	"crypto/sha256"
	"time"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/class"
)

// Damaged is a room that could not be read.
type Damaged struct {
	Hash     []byte    // hash of the instructor's secret; nil if it is lost too
	SetAside time.Time // when it was set aside; zero if its log is unchanged but could not be read
	Used     time.Time // when the room was last used; decides when it expires
}

// mayKnow reports whether a secret is the room's, or might be, because the hash of the room's
// secret is lost.
func (d *Damaged) mayKnow(secret class.Secret) bool {
	return len(d.Hash) != sha256.Size || secret.Fits([sha256.Size]byte(d.Hash))
}

// Err returns the refusal that describes the damage.
func (d *Damaged) Err() error {
	if d.SetAside.IsZero() {
		return terms.Refuse(class.CodeDamaged, "class.refused.unreadable")
	}
	return terms.Refuse(class.CodeDamaged, "class.refused.set_aside", "day", d.SetAside.UTC().Format("January 2, 2006"))
}

// isDamaged reports whether an error means that a room's data could not be read.
func isDamaged(err error) bool {
	refused, ok := terms.AsRefusal(err)
	return ok && refused.Code == class.CodeDamaged
}

// NotForgotten returns a refusal saying that some rooms could not be read and may still contain
// data about a learner. It returns nil if unread is 0.
func NotForgotten(unread int) error {
	if unread == 0 {
		return nil
	}
	return terms.Refuse(class.CodeDamaged, "class.refused.not_forgotten", "n", unread)
}
