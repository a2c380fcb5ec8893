package shell

import "net/http"

// Compressed returns the handler as it is: answers in a browser's tab travel nowhere, and
// without the library the program is smaller, which does travel.
func Compressed(next http.Handler) http.Handler { return next }

func acceptsGzip(http.ResponseWriter) bool { return false }
