// Package saved defines the file that a learner's progress is exported to and
// imported from: its entries, how it is written ([File.Encode]) and how it is read
// ([Parse]).
//
// A file is untrusted input. It is either valid as a whole or refused with the
// location of the error. The package does not know the database, so that a fuzzer can
// try thousands of files a second.
package saved
