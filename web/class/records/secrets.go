package records

import "context"

// Secrets stores the hashes of the instructors' secrets by room code, separately from the
// logs.
type Secrets interface {
	KeepSecret(ctx context.Context, room string, hash []byte) error
	Secrets(ctx context.Context) (map[string][]byte, error)
	// DropSecret deletes a secret and removes it from the disk.
	DropSecret(ctx context.Context, room string) error
}
