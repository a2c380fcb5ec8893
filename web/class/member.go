package class

// Member is a follower.
type Member struct {
	ID   int    // within the room, starting at 1
	Name string // the nickname, "" without one
}
