// Package saved defines the file format for exporting and importing a learner's progress. It
// defines the entries of a file, encodes files ([File.Encode]) and parses them ([Parse]).
//
// A file is untrusted input. It is either valid as a whole, or refused with the location of the
// error. The package does not use the database, so a fuzzer can try thousands of files a second.
package saved
