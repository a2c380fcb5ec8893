package records

import (
	"fmt"
	"strings"
	"time"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/polls"
)

// Data is the part of a room that is saved as one record.
type Data struct {
	Title                                        string    `json:"title"`
	Language                                     string    `json:"language,omitempty"` // of script and questions
	Walk                                         string    `json:"walk,omitempty"`
	Step                                         int       `json:"step,omitempty"` // of the walkthrough, starting at 1
	Left                                         bool      `json:"left,omitempty"` // the presenter has left the script
	Poll                                         int       `json:"poll,omitempty"` // ID of the poll on the stage
	Timer                                        time.Time `json:"timer,omitzero"`
	Seed                                         uint64    `json:"seed"` // for shuffling and drawing in this room
	Nicknames, Alone, Locked, NamesHidden, Ended bool
	NamesFall                                    bool `json:",omitempty"`
	Quiet                                        bool `json:",omitempty"` // members cannot ask questions

	Wall string `json:"wall,omitempty"` // ids of the members' questions on the wall, separated by spaces

	Tasks    string `json:"tasks,omitempty"` // assigned tasks, separated by spaces
	AskNames bool   `json:"ask_names,omitempty"`
}

// With returns the room's data after a command that changes only the data.
func (d Data) With(cmd class.Command, now time.Time) (Data, error) {
	switch cmd := cmd.(type) {
	case class.SetTimer:
		if cmd.For < 0 || cmd.For > polls.MaxTime {
			return d, terms.Refuse(class.CodeAsk, "class.refused.timer", "n", int(polls.MaxTime/time.Hour))
		}
		d.Timer = time.Time{}
		if cmd.For > 0 {
			d.Timer = now.Add(cmd.For)
		}
	case class.Lock:
		d.Locked = cmd.On
	case class.HideNames:
		d.NamesHidden = cmd.On
	case class.AllowAlone:
		d.Alone = cmd.On
	case class.AllowQuestions:
		d.Quiet = !cmd.On
	case class.End:
		d.Ended = true
	case class.Reopen:
		d.Ended = false
	case class.Assign:
		return d.assign(cmd)
	default:
		return d, fmt.Errorf("%T does not change the data of a room", cmd)
	}
	return d, nil
}

// assign returns the room's data with a new assignment.
func (d Data) assign(a class.Assign) (Data, error) {
	if len(a.Tasks) > MaxTasks {
		return d, terms.Refuse(class.CodeAsk, "class.refused.tasks", "n", MaxTasks)
	}
	for _, t := range a.Tasks {
		if !plainTask(t) {
			return d, terms.Refuse(class.CodeAsk, "class.refused.no_task", "task", class.Quoted(t))
		}
	}
	d.Tasks, d.AskNames = strings.Join(a.Tasks, " "), a.Names && len(a.Tasks) > 0
	return d, nil
}

func (d Data) check() bool {
	return text(d.Title, longestName) && text(d.Language, longestName) && text(d.Walk, longestName) &&
		between(d.Step, 0, mostSteps) && between(d.Poll, 0, polls.MaxPolls) && timeOrNone(d.Timer) &&
		text(d.Tasks, MaxTasks*(longestTask+1)) && len(d.WallIDs()) <= class.MaxOnWall
}
