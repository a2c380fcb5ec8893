// Package shell implements what all pages share.
//
// For users that is the frame: head, header, navigation, icons and the list of keys. [Page] is a
// page within it, [Bare] one without the header.
//
// For requests it is what happens before a page is reached: [Gate] checks the Host and Origin
// headers against exact lists, [Learners] identifies the learner by a cookie, [SetCookie] and
// [Cookies] write and read all cookies, [Compressed] compresses the response. [MountFiles]
// serves the static files, and [Text] and [Elsewhere] answer if there is no page.
//
// A package with pages embeds [Base], which identifies the learner, reads forms within bounds,
// sends pages and parts of them, and refuses requests.
package shell
