// Package web makes the server out of its rooms: it mounts their pages and live
// parts, starts what they share (the pools that run the models, the registry of
// runs, the sockets) and stops it again. It has no features of its own.
//
// A request first passes the gate of package shell. Pages are sent whole over
// plain HTTP, so a shared link and a reload work without a socket; what changes
// afterwards is sent over one WebSocket per page, as package wire describes.
package web
