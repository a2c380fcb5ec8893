// Package shell is what surrounds every page.
//
// To a reader that is the frame: head, header, navigation, icons and the list of
// keys. [Page] is a page within it, [Bare] one without the header.
//
// To a request it is what happens before a page is reached: [Gate] checks the Host
// and Origin headers against exact lists, [Learners] finds out whose cookie it is,
// [SetCookie] and [Cookies] write and read all cookies, [Compressed] compresses the
// answer. [MountFiles] serves the static files, and [Text] and [Elsewhere] answer when
// there is no page.
package shell
