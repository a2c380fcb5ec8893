package room

import (
	"testing"

	"github.com/tokenbytoken/viz/web/class"
)

// TestNamesInDrawsFollowRoomOption: in a draw, members' names and numbers are shown to
// everyone if the instructor chose that option for the room. They are not shown without the
// option, in other polls, or while names are hidden.
// Promise: Names appear in a draw only if the instructor chose that for the room.
func TestNamesInDrawsFollowRoomOption(t *testing.T) {
	t.Parallel()
	s := begun(t, "")
	for _, on := range []bool{false, true} {
		l := s.room(class.Options{Nicknames: true, NamesFall: on})
		l.Start("The capital of")
		l.Enroll(3)
		l.Does(class.AskNext{Choices: 4, Where: class.Here})
		if v := l.Does(class.Reveal{}); v.Poll.Falls != nil {
			t.Errorf("a vote shows %+v, want nil", v.Poll.Falls)
		}
		l.Does(class.Dismiss{}, class.AskDraw{Where: class.Here})
		drawn := l.AllCast(3, func(int) class.Ballot { return class.Ballot{} })
		v := l.Settled("all have drawn", func(v *class.View) bool { return v.Poll.Votes == 3 })
		if !on {
			if v.NamesFall || v.Poll.Falls != nil {
				t.Errorf("without the option, everyone sees %+v, want NamesFall false, Falls nil", v.Poll.Falls)
			}
			continue
		}
		if len(v.Poll.Falls) != 3 {
			t.Fatalf("%d of 3 numbers are shown, want 3", len(v.Poll.Falls))
		}
		for i, f := range v.Poll.Falls {
			if f.ID != i+1 || f.U != drawn[i].U {
				t.Errorf("member %d: got %+v, want the u that was drawn, %v", i+1, f, drawn[i].U)
			}
		}
		if v := l.Does(class.HideNames{On: true}); v.Poll.Falls != nil {
			t.Errorf("while names are hidden, everyone sees %+v, want nil", v.Poll.Falls)
		}
	}
	if l := s.room(class.Options{NamesFall: true}); l.View().NamesFall {
		t.Error("NamesFall is set in a room without nicknames")
	}
}
