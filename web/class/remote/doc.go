// Package remote shares rooms among the servers of a cluster. Every server provides every room and
// forwards requests to the server that runs the room.
//
// A lease names the owner of a room, and the log enforces it ([Cluster]). Each server has a relay
// for each room that someone requests there. The relay finds the room's owner or becomes the owner,
// sends it typed requests (ops.go), and reports the pages that are open on this server. The owner
// publishes each view without the run. Servers with followers recreate the run from the view's link
// in a replica, and show the owner's views. [NewHub] returns a hub that finds rooms in this way;
// package cluster implements the network.
package remote
