package class

import "time"

// Assign assigns tasks to the class, replacing earlier ones; an empty list removes the assignment.
// If Names is set, members who hand in are asked for a name.
type Assign struct {
	Tasks []string // slugs, without spaces
	Names bool
}

// Work contains the results that a member has handed in.
type Work struct {
	At    time.Time `json:"at"`
	Done  []string  `json:"done,omitempty"`  // finished tasks
	Slips []string  `json:"slips,omitempty"` // mistakes without duplicates, as task, colon, mistake
}

// Assignment is the assignment of a class as one learner sees it.
type Assignment struct {
	Title string
	Tasks []string
	Names bool   // members are asked for a name
	Name  string // the learner's name in this class, "" for none
	Work  *Work  // the results that the learner has handed in, or nil
}

// AssignedSummary summarizes the results of members who have not been removed.
type AssignedSummary struct {
	Tasks    []TaskSummary
	Names    bool // members were asked for a name
	HandedIn int
	Slips    []SlipSummary // mistakes in these tasks, the most frequent first
	People   []PersonSummary
}

// TaskSummary contains the number of members who finished a task, and SlipSummary the number
// of members who made a mistake.
type (
	TaskSummary struct {
		Task string
		Done int
	}
	SlipSummary struct {
		Task, Slip string
		Members    int
	}
)

// PersonSummary is a member who gave a name because the instructor asked for one.
type PersonSummary struct {
	Name string
	Done int // finished tasks
}
