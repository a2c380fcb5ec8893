package wire

import (
	"strings"

	"github.com/gorilla/websocket"

	"github.com/tokenbytoken/viz/infer/terms"
)

// closeReason is the reason why a connection ends: a close code and the key of a sentence, which
// pages show if they do not reconnect. Clients reconnect automatically after 1001, 1006, 1011, 1012
// and
// 1013. They do not reconnect after 1000, which means that there is nothing more to do, or after the
// other codes, which mean that the client was at fault.
type closeReason struct {
	code int
	key  string // "" for no sentence
}

func (r *closeReason) Error() string { return r.in(terms.English) }

// in returns the sentence in a language, shortened to fit into a close frame.
func (r *closeReason) in(l *terms.Language) string {
	if r.key == "" {
		return ""
	}
	const most = 123 // bytes
	text := l.T(r.key, protocols...)
	return strings.ToValidUTF8(text[:min(len(text), most)], "")
}

// protocols are the values that texts need to name the subprotocols.
var protocols = []any{"html", ProtocolHTML, "json", ProtocolJSON}

var (
	reasonDone     = &closeReason{websocket.CloseNormalClosure, "wire.done"}
	reasonProtocol = &closeReason{websocket.CloseProtocolError, "wire.protocol"}
	reasonBinary   = &closeReason{websocket.CloseUnsupportedData, "wire.binary"}
	reasonUTF8     = &closeReason{websocket.CloseInvalidFramePayloadData, "wire.utf8"}
	reasonRefused  = &closeReason{websocket.ClosePolicyViolation, "wire.refused"}
	reasonFlood    = &closeReason{websocket.ClosePolicyViolation, "wire.flood"}
	reasonLarge    = &closeReason{websocket.CloseMessageTooBig, ""} // gorilla/websocket has sent the reason
	reasonBroken   = &closeReason{websocket.CloseInternalServerErr, "wire.broken"}
	reasonRestart  = &closeReason{websocket.CloseServiceRestart, "wire.restart"}
	reasonFull     = &closeReason{websocket.CloseTryAgainLater, "wire.full"}
	reasonGone     = &closeReason{websocket.CloseGoingAway, ""} // the peer has left or does not respond
)
