package wire

import "github.com/gorilla/websocket"

// closeReason is the reason a connection ends: a close code and a sentence of at most 123
// bytes. Clients reconnect automatically after 1001, 1006, 1011, 1012 and 1013. They do not
// reconnect after 1000, which means that there is nothing more to do, or after the other codes,
// which mean that the client was at fault.
type closeReason struct {
	code int
	text string
}

func (r *closeReason) Error() string { return r.text }

var (
	reasonDone     = &closeReason{websocket.CloseNormalClosure, "there is nothing more to send"}
	reasonProtocol = &closeReason{
		websocket.CloseProtocolError, "ask for the subprotocol " + ProtocolHTML + " or " + ProtocolJSON,
	}
	reasonBinary  = &closeReason{websocket.CloseUnsupportedData, "messages must be text, each one JSON object"}
	reasonUTF8    = &closeReason{websocket.CloseInvalidFramePayloadData, "messages must be valid UTF-8"}
	reasonRefused = &closeReason{websocket.ClosePolicyViolation, "there is no such part of the page"}
	reasonFlood   = &closeReason{websocket.ClosePolicyViolation, "too many messages, even after many refusals"}
	reasonLarge   = &closeReason{websocket.CloseMessageTooBig, ""} // gorilla/websocket has sent the reason
	reasonBroken  = &closeReason{websocket.CloseInternalServerErr, "an internal error occurred and was logged"}
	reasonRestart = &closeReason{websocket.CloseServiceRestart, "the server is shutting down or restarting"}
	reasonFull    = &closeReason{websocket.CloseTryAgainLater, "there is no room for this at the moment"}
	reasonGone    = &closeReason{websocket.CloseGoingAway, ""} // the peer has left or does not answer
)
