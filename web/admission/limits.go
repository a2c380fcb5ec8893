package admission

// Limits is how much of each thing the server has, and how much of it one caller may
// hold or do. They are sized so that a class of 1,000 works behind one address, and
// so that one address cannot use up what others need.
type Limits struct {
	// Held at a time.
	Sockets Share
	Runs    Share

	// Done.
	Requests    Pace // of pages, forms and sockets
	NewLearners Pace // first visits, which get a cookie
	Openings    Pace // of sockets
	Messages    Pace // on sockets; beyond it they wait
	WrongCodes  Pace // codes of rooms and secrets of instructors
	NewRooms    Pace
}

// DefaultLimits are for a machine with two cores.
func DefaultLimits() Limits {
	return Limits{
		// A phone of a class has one socket, a tab with a lesson up to three.
		Sockets: Share{Most: 6000, Newcomers: 4500, PerAddress: 3000, PerLearner: 40},
		// One run a tab; few people keep more than 20 tabs of a page.
		Runs: Share{Most: 2000, Newcomers: 1500, PerAddress: 1200, PerLearner: 20},

		Requests: Pace{PerLearner: Rate{20, 200}, PerAddress: Rate{200, 6000}},
		// A visitor at the address of a flood of 1,000 requests a second gets in at the
		// tenth try or so: so often may newcomers be let in without harm.
		NewLearners: Pace{PerAddress: Rate{100, 3000}},
		Openings:    Pace{PerLearner: Rate{2, 60}, PerAddress: Rate{100, 3000}},
		Messages:    Pace{PerLearner: Rate{120, 480}, PerAddress: Rate{1000, 4000}},
		// Whoever has typed no wrong code yet may try one whatever others at their
		// address do. So someone who keeps no cookies tries 100 a second, and on a
		// server with ten rooms needs 22 hours for an even chance to find one:
		// 22⁶/10 codes, times ln 2. Anybody else needs half a year.
		WrongCodes: Pace{PerLearner: Rate{0.2, 15}, PerAddress: Rate{0.5, 60}},
		NewRooms:   Pace{PerLearner: Rate{1.0 / 60, 20}, PerAddress: Rate{1.0 / 30, 40}},
	}
}
