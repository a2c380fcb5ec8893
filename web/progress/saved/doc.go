// Package saved defines the file format for exporting and importing a learner's progress: its
// entries, how it is written ([File.Encode]) and how it is read ([Parse]).
//
// A file is untrusted input. It is either valid as a whole or refused with the location of the
// error. The package does not use the database, so a fuzzer can try thousands of files a second.
package saved
