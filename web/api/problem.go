package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/tokenbytoken/viz/infer/terms"
)

// The types of errors defined by the API.
const (
	typeRequest = "invalid_request_error"
	typeKey     = "authentication_error"
	typeLimit   = "rate_limit_error"
	typeServer  = "server_error"
)

// A problem is the reason why a request was refused or failed, in the format of the published API.
type problem struct {
	status  int
	wait    time.Duration // time until a retry may succeed; 0 if unknown
	Message string        `json:"message"`
	Type    string        `json:"type"`
	Param   *string       `json:"param"` // the offending field
	Code    *string       `json:"code"`
}

func (p *problem) Error() string { return p.Message }

// wrong returns a problem with the request. param is the field at fault, or "".
func wrong(param, code, format string, args ...any) *problem {
	p := &problem{
		status: http.StatusBadRequest, Message: fmt.Sprintf(format, args...), Type: typeRequest, Code: &code,
	}
	if param != "" {
		p.Param = &param
	}
	return p
}

// unsupported returns a problem for a field that other programs support but this one does not.
func unsupported(field, why string) *problem {
	return wrong(field, "unsupported_parameter", "This server does not support %s: %s.", terms.Quoted(field), why)
}

// ofStatus returns a problem that has only a status and a message.
func ofStatus(status int, message string) *problem {
	p := &problem{status: status, Message: message, Type: typeRequest}
	switch {
	case status == http.StatusTooManyRequests:
		p.Type, p.Code = typeLimit, code("rate_limit_exceeded")
	case status == http.StatusUnauthorized:
		p.Type, p.Code = typeKey, code("invalid_api_key")
	case status == http.StatusNotFound:
		p.Code = code("unknown_url")
	case status == http.StatusMethodNotAllowed:
		p.Code = code("method_not_supported")
	case status >= http.StatusInternalServerError:
		p.Type = typeServer
	}
	return p
}

func code(s string) *string { return &s }

// full returns the problem for a server or client that has too many requests in progress.
func full(message string) *problem {
	p := ofStatus(http.StatusTooManyRequests, message)
	p.wait = time.Second
	return p
}

// problemOf converts any error to a problem. logged reports whether the error must be logged
// because this program is at fault.
func problemOf(err error) (p *problem, logged bool) {
	if errors.As(err, &p) {
		return p, false
	}
	r := terms.RefusalOf(err)
	switch r.Code {
	case terms.CodeFull:
		return full(r.Message), false
	case terms.CodeBusy:
		return ofStatus(http.StatusServiceUnavailable, "The answer took too long."), false
	case terms.CodeModel:
		return ofStatus(http.StatusInternalServerError, "The model could not continue. It has been logged."), true
	case terms.CodeFormat:
		return wrong("", "invalid_json", "%s", r.Message), false
	}
	return wrong(r.Field, "invalid_value", "%s", r.Message), false
}

// send sends the problem as a response.
func (p *problem) send(w http.ResponseWriter) {
	if p.wait > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int((p.wait+time.Second-1)/time.Second)))
	}
	switch p.status {
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", "Bearer")
	case http.StatusRequestTimeout:
		w.Header().Set("Connection", "close") // do not parse the rest of the body as a request
	}
	reply(w, p.status, p.body())
}

// body returns the problem in the form that clients expect.
func (p *problem) body() any {
	return struct {
		Error *problem `json:"error"`
	}{p}
}

// reply sends a value as JSON.
func reply(w http.ResponseWriter, status int, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		panic("api: " + err.Error()) // impossible: v has only numbers and strings
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(sendWait)) // not supported in tests
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Del("Refresh") // only browsers should reload
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n')) // on an error, the client has disconnected
}
