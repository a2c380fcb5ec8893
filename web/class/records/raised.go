package records

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/class"
)

// Raised is the data of a record of type [TypeRaised]. It does not contain who asked.
type Raised struct {
	ID   int    `json:"id"`
	Text string `json:"text"`           // "" once it was erased
	Same int    `json:"same,omitempty"` // the question that it is grouped with
	Done bool   `json:"done,omitempty"` // the instructor has put it away
}

func (r Raised) check() bool {
	return between(r.ID, 1, class.MaxRaisedEver) && between(r.Same, 0, class.MaxRaisedEver) &&
		text(r.Text, 4*class.MaxRaised)
}

// WallIDs returns the ids of the questions on the wall, in order.
func (d Data) WallIDs() (ids []int) {
	for _, id := range strings.Fields(d.Wall) {
		n, _ := strconv.Atoi(id) // 0 is not the id of a question
		ids = append(ids, n)
	}
	return ids
}

// WithWall returns the room's data with these questions on the wall.
func (d Data) WithWall(ids []int) (Data, error) {
	if len(ids) > class.MaxOnWall {
		return d, terms.Refuse(class.CodeAsk, "class.refused.raised.wall", "n", class.MaxOnWall)
	}
	var list []string
	for _, id := range ids {
		list = append(list, strconv.Itoa(id))
	}
	d.Wall = strings.Join(list, " ")
	return d, nil
}

// Moved returns a list in which the value x has moved by one position, unless it is at the end.
func Moved(list []int, x, by int) []int {
	list = slices.Clone(list)
	i := slices.Index(list, x)
	if j := i + by; i >= 0 && j >= 0 && j < len(list) {
		list[i], list[j] = list[j], list[i]
	}
	return list
}
