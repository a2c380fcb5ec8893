package progress

import (
	"context"
	"strings"

	"github.com/tokenbytoken/viz/web/progress/saved"
)

// MaxSentence is the maximum length of a learner's sentence, in bytes.
const MaxSentence = saved.MaxSetting

// sentenceName is the name of the setting that contains a learner's sentence.
const sentenceName = "sentence"

// Sentence returns the sentence that a learner uses in the course: that of their first run, unless
// they have changed it. It returns "" if there is none.
func (s *Store) Sentence(ctx context.Context, learnerID string) (text string, err error) {
	err = s.glance(ctx, learnerID, func(st *state) {
		if x := st.Settings[sentenceName]; x != nil {
			text = strings.TrimSpace(x.Value) // an import may have spaces around it
		}
	})
	return text, err
}

// SetSentence saves a learner's sentence, without the spaces around it. An empty text removes the
// sentence.
func (s *Store) SetSentence(ctx context.Context, learnerID, text string) error {
	text = strings.TrimSpace(text)
	if !saved.Plain(text, MaxSentence) {
		return saved.Refuse("sentence must be text of at most %d bytes without control characters", MaxSentence)
	}
	return s.set(ctx, learnerID, sentenceName, text)
}

// set saves a change of a setting, unless it has that value already. An empty value removes the
// setting. The earlier value is deleted from the log.
func (s *Store) set(ctx context.Context, learnerID, name, value string) error {
	return s.use(ctx, learnerID, func(l *learner) error {
		before := ""
		if x := l.State().Settings[name]; x != nil {
			before = x.Value
		}
		if before != value {
			_, err := s.keep(ctx, l, settingID(name, l.State().Changes+1), saved.Setting{Name: name, Value: value})
			if err != nil {
				return err
			}
		}
		return l.Compact(ctx) // if an earlier call could not, this one does
	})
}
