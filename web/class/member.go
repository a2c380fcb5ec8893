package class

// Member is a follower.
type Member struct {
	ID   int    // within the room, starting at 1
	Name string // the nickname, "" without one
}

// Standing is the data that only one member sees, in addition to the [View].
type Standing struct {
	Member
	Vote *Receipt // in the current poll's round; nil without one
}

// Attendee is a member as the instructor sees them.
type Attendee struct {
	Member
	Here  bool
	Voted string // their vote in the current round as text, "" if they have not voted
}
