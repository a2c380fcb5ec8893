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

// The types of errors that the API's clients know.
const (
	typeRequest = "invalid_request_error"
	typeKey     = "authentication_error"
	typeLimit   = "rate_limit_error"
	typeServer  = "server_error"
)

// problem is why a request was not answered, in the published shape.
type problem struct {
	status  int
	wait    time.Duration // until another try may succeed; 0 for not said
	Message string        `json:"message"`
	Type    string        `json:"type"`
	Param   *string       `json:"param"` // the field at fault
	Code    *string       `json:"code"`
}

func (p *problem) Error() string { return p.Message }

// wrong is a fault of the request; param is the field, "" for none.
func wrong(param, code, format string, args ...any) *problem {
	p := &problem{
		status: http.StatusBadRequest, Message: fmt.Sprintf(format, args...), Type: typeRequest, Code: &code,
	}
	if param != "" {
		p.Param = &param
	}
	return p
}

// unsupported refuses a field that others have and this program does not.
func unsupported(field, why string) *problem {
	return wrong(field, "unsupported_parameter", "This server does not support %s: %s.", terms.Quoted(field), why)
}

// ofStatus is a problem that only its status and a sentence tell.
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

// full is when there is no room for another request.
func full(message string) *problem {
	p := ofStatus(http.StatusTooManyRequests, message)
	p.wait = time.Second
	return p
}

// problemOf turns any error into a problem. logged says that the failure is the
// program's own.
func problemOf(err error) (p *problem, logged bool) {
	if errors.As(err, &p) {
		return p, false
	}
	r := terms.RefusalOf(err)
	switch r.Code {
	case terms.CodeFull:
		return full(r.Message), false
	case terms.CodeBusy:
		return ofStatus(http.StatusServiceUnavailable, "The answer was not finished in time."), false
	case terms.CodeModel:
		return ofStatus(http.StatusInternalServerError, "The model could not continue. It has been logged."), true
	case terms.CodeFormat:
		return wrong("", "invalid_json", "%s", r.Message), false
	}
	return wrong(r.Field, "invalid_value", "%s", r.Message), false
}

// send writes the problem as a response.
func (p *problem) send(w http.ResponseWriter) {
	if p.wait > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int((p.wait+time.Second-1)/time.Second)))
	}
	switch p.status {
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", "Bearer")
	case http.StatusRequestTimeout:
		w.Header().Set("Connection", "close") // what comes late is no request
	}
	reply(w, p.status, p.body())
}

// body is the problem as clients read it.
func (p *problem) body() any {
	return struct {
		Error *problem `json:"error"`
	}{p}
}

// reply writes a value as JSON.
func reply(w http.ResponseWriter, status int, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		panic("api: " + err.Error()) // plain numbers and strings
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(sendWait)) // writers of tests have none
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Del("Refresh") // browsers alone reload
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n')) // an error is that of a client that has gone
}
