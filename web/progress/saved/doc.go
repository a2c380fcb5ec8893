// Package saved is the file in which a learner's progress leaves the program
// and comes back: what an entry may be, how it is written ([File.Encode]) and
// how it is read ([Parse]).
//
// A file comes from outside and is not trusted. It is read whole or refused
// with the place of the fault. The package knows nothing of the database, so
// that a fuzzer can try thousands of files a second.
package saved
