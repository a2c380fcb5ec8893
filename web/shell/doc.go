// Package shell is the frame of every page: head, header, navigation, icons and
// the list of keys. [Page] is a page within it, [Bare] one without the header.
package shell
