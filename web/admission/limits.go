package admission

// Limits holds the sizes of all pools and meters. A class of 1,000 can share an address, but no
// single address can exhaust the resources that others need.
type Limits struct {
	// Pools.
	Sockets Share
	Runs    Share
	Imports Share // files that are being read
	API     Share // requests by other programs that are in progress
	Rooms   Share // rooms of classes; only Most and Newcomers are used
	Members Share // members of one class; PerLearner is not used

	// Queues.
	Labs  Backlog // measurements
	Links Backlog // runs that are recomputed from links
	// Grammars are compiled one at a time.
	Grammars Backlog

	// Meters.
	Requests    Pace // requests for pages, forms and sockets
	NewLearners Pace // first visits, each of which is issued a cookie
	Openings    Pace // new socket connections
	Messages    Pace // messages on sockets; further messages are delayed
	WrongCodes  Pace // wrong room codes and instructor secrets
	NewRooms    Pace
	Imported    Pace // MiB of files, rounded up
	Refusals    Pace // refused HTTP requests; once they exceed the limit, the connection is closed
	BadGrammars Pace // unusable grammars
}

// Backlog limits the number of tasks that may wait in a [Queue].
type Backlog struct {
	Most       int // by all callers together
	PerLearner int
}

// DefaultLimits returns limits for a machine with two cores.
func DefaultLimits() Limits {
	return Limits{
		// A phone in a class has one socket, and a tab with a lesson has up to three.
		Sockets: Share{Most: 6000, Newcomers: 4500, PerAddress: 3000, PerLearner: 40},
		// One run per tab; few people have more than 20 tabs of a page open.
		Runs: Share{Most: 2000, Newcomers: 1500, PerAddress: 1200, PerLearner: 20},
		// Each import reads a whole file, up to 32 MiB, into memory.
		Imports: Share{Most: 8, Newcomers: 4, PerAddress: 2, PerLearner: 1},
		// A request can run for minutes. Requests beyond the limit are refused with a Retry-After
		// header.
		API:   Share{Most: 64, Newcomers: 48, PerAddress: 24, PerLearner: 16},
		Rooms: Share{Most: 200, Newcomers: 150},
		// A client with several addresses cannot fill a class.
		Members: Share{Most: 4000, Newcomers: 3500, PerAddress: 1000},

		// This is enough for two tabs that show a lab in a lesson and two that show a lab's own
		// page.
		Labs:  Backlog{Most: 1000, PerLearner: 4},
		Links: Backlog{Most: 1000, PerLearner: 8},
		// PerLearner is the same as for runs; compiling a grammar takes a few milliseconds.
		Grammars: Backlog{Most: 1000, PerLearner: 20},

		Requests: Pace{PerLearner: Rate{20, 200}, PerAddress: Rate{200, 6000}},
		// Even if one address sends 1,000 requests a second, another newcomer at that address gets
		// in after about ten tries.
		NewLearners: Pace{PerAddress: Rate{100, 3000}},
		Openings:    Pace{PerLearner: Rate{2, 60}, PerAddress: Rate{100, 3000}},
		Messages:    Pace{PerLearner: Rate{120, 480}, PerAddress: Rate{1000, 4000}},
		// A learner's first wrong code is allowed even if their address has no budget left. A
		// script without cookies can therefore try 100 codes a second. If the server has ten rooms,
		// the script has a 50% chance of finding one of them within 22 hours, after ln 2 · 22⁶/10
		// codes.
		WrongCodes: Pace{PerLearner: Rate{0.2, 15}, PerAddress: Rate{0.5, 60}},
		NewRooms:   Pace{PerLearner: Rate{1.0 / 60, 20}, PerAddress: Rate{1.0 / 30, 40}},
		// A year of one learner's work is less than 1 MiB.
		Imported: Pace{PerLearner: Rate{0.1, 64}, PerAddress: Rate{0.5, 2048}},
		Refusals: Pace{PerLearner: Rate{1, 20}},
		// A user who experiments with a schema will send a few bad grammars.
		BadGrammars: Pace{PerLearner: Rate{1, 20}, PerAddress: Rate{10, 200}},
	}
}
