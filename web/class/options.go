package class

// Options are the settings that an instructor chooses for a new room.
type Options struct {
	Title     string // at most 80 characters; "" means "Class"
	Walk      string // slug of a walkthrough, "" for none
	Nicknames bool   // members can choose nicknames
	NamesFall bool   // in a draw, everyone sees which token each named member's number selected
	Alone     bool   // members can continue alone with their own run
}
