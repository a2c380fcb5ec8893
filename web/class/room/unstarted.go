package room

import (
	"crypto/sha256"

	"github.com/tokenbytoken/viz/web/class/records"
)

// Unstarted is a room whose goroutine is not running yet.
type Unstarted struct {
	core    *core
	running *Local // set when it starts
}

// Code returns the room's code. It is "" until [Hub.ChooseCode].
func (u *Unstarted) Code() string { return u.core.code }

// SecretHash returns the hash of the instructor's secret.
func (u *Unstarted) SecretHash() [sha256.Size]byte { return u.core.secret }

// Create saves a new room of a cluster, whose owner has the given host and epoch. The room's log
// begins with the given records.
func (u *Unstarted) Create(h Host, epoch uint64, first ...records.Entry) error {
	u.core.host, u.core.epoch = h, epoch
	return u.core.create(first...)
}
