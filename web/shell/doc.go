// Package shell implements the parts that all pages share.
//
// For users, that is the frame: head, header, navigation, icons and the list of keys. [Page] is a
// page in the frame, and [Bare] is a page without the header.
//
// For requests, it is the code that runs before a page's handler: [Gate] checks the Host and Origin
// headers against exact lists, [Learners] identifies the learner by a cookie, [SetCookie] and
// [Cookies] write and read all cookies, and [Compressed] compresses the response. [MountFiles]
// serves the static files, and [Text] and [Elsewhere] respond to requests for which there is no
// page.
//
// A package with pages embeds [Base], which identifies the learner, reads forms of limited size,
// sends pages and parts of pages, and refuses requests.
package shell
