package wire

import "github.com/gorilla/websocket"

// goodbye is why a connection ends: a close code and a sentence of at most 123
// bytes. Clients come back by themselves after 1001, 1006, 1011, 1012 and
// 1013, and not after the others, which say that the client did wrong, nor after
// 1000, where there is nothing left to come back for.
type goodbye struct {
	code int
	text string
}

func (g *goodbye) Error() string { return g.text }

var (
	byeDone     = &goodbye{websocket.CloseNormalClosure, "there is nothing more to tell"}
	byeProtocol = &goodbye{
		websocket.CloseProtocolError, "ask for the subprotocol " + ProtocolHTML + " or " + ProtocolJSON,
	}
	byeBinary  = &goodbye{websocket.CloseUnsupportedData, "messages must be text, each one JSON object"}
	byeUTF8    = &goodbye{websocket.CloseInvalidFramePayloadData, "messages must be valid UTF-8"}
	byeRefused = &goodbye{websocket.ClosePolicyViolation, "there is no such part of the page"}
	byeLarge   = &goodbye{websocket.CloseMessageTooBig, ""} // gorilla/websocket has said it
	byeBroken  = &goodbye{websocket.CloseInternalServerErr, "something failed inside the server; it has been logged"}
	byeRestart = &goodbye{websocket.CloseServiceRestart, "the server is going down or starting anew"}
	byeFull    = &goodbye{websocket.CloseTryAgainLater, "there is no room for this now"}
	byeGone    = &goodbye{websocket.CloseGoingAway, ""} // the peer has left or does not answer
)
