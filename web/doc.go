// Package web assembles the server from the packages below it: it mounts their pages and live
// parts, starts the resources that they share (the pools that run the models, the registry of runs,
// and the sockets), and shuts everything down. It has no features of its own.
//
// A request first passes the gate of package shell. Complete pages are sent over plain HTTP, so
// shared links and reloads work without a socket. Later changes arrive over one WebSocket per page,
// as package wire describes.
package web
