package journal_test

import (
	"testing"

	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/journal/journaltest"
)

// TestAdaptersConform: every adapter behaves as the interface documents.
func TestAdaptersConform(t *testing.T) {
	for name, open := range journal.Adapters {
		t.Run(name, func(t *testing.T) { journaltest.Run(t, open) })
	}
}
