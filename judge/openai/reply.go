package openai

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/countersign/countersign/judge"
)

// maxAdaptions is how often one call is written anew because the endpoint does
// not take a parameter: temperature, seed, the name of the token limit, and two
// kinds of structured output.
const maxAdaptions = 6

// Reply sends a conversation and gives the answer. A call that is refused for a
// parameter which the endpoint does not take is sent again without it, and the
// endpoint's ways are remembered; Reply.Parameters are those of the call that was
// answered. One call at a time finds out; the others of its model wait for it, so
// that a change costs a few requests and not a few for each call in flight.
func (e *Engine) Reply(ctx context.Context, c judge.Conversation, p judge.Params) (judge.Reply, error) {
	select {
	case e.inFlight <- struct{}{}:
		defer func() { <-e.inFlight }()
	case <-ctx.Done():
		return judge.Reply{}, context.Cause(ctx)
	}
	messages := messagesOf(c, len(p.Schema)+512)
	var own *probe // held while this call finds out what the endpoint takes
	defer func() { own.end() }()
	for adaption := 0; ; adaption++ {
		if own == nil {
			if err := e.dialects.settled(ctx, p.Model); err != nil {
				return judge.Reply{}, err
			}
		}
		// The budget comes last, so that it is used as soon as it is granted. Each
		// request counts, also one that is sent again in another form.
		if err := e.pace.wait(ctx, needs(c)); err != nil {
			return judge.Reply{}, err
		}
		used := e.dialects.of(p.Model, p.SchemaName)
		sent, err := e.parametersOf(p, used)
		if err != nil {
			return judge.Reply{}, err
		}
		reply, err := e.call(ctx, bodyOf(messages, sent, adaption == 0), sent, p.Model)
		if err == nil {
			return reply, nil
		}
		if ctx.Err() != nil {
			return judge.Reply{}, context.Cause(ctx)
		}
		var refused *openai.Error
		adaptable := errors.As(err, &refused) &&
			(refused.StatusCode == http.StatusBadRequest || refused.StatusCode == http.StatusUnprocessableEntity)
		if adaptable && adaption < maxAdaptions {
			if own == nil {
				if own, err = e.dialects.probe(ctx, p.Model); err != nil {
					return judge.Reply{}, err
				}
			}
			if e.dialects.of(p.Model, p.SchemaName) != used {
				own.end() // found by another call meanwhile
				own = nil
				continue
			}
			if e.dialects.learn(p.Model, p.SchemaName, used, refused.Param, message(refused)) {
				continue
			}
			err = refused
		}
		failed := e.failure(err)
		if failed.Status == http.StatusTooManyRequests || failed.Status == http.StatusServiceUnavailable {
			e.pace.obey(ctx, failed.RetryAfter)
		}
		return judge.Reply{}, failed
	}
}

// needs is what a call takes of the endpoint's limits.
func needs(c judge.Conversation) judge.Budget {
	bytes := 0
	for _, m := range c {
		bytes += len(m.Content)
	}
	return judge.Budget{Requests: 1, Tokens: bytes/4 + 1}
}

// call makes one HTTP request.
func (e *Engine) call(ctx context.Context, body []byte, sent json.RawMessage, model string) (judge.Reply, error) {
	start := e.now()
	// The body is written here, once; the library's own would be written anew for
	// each try and again for what is logged. Likewise the answer is read here.
	var answer []byte
	var response *http.Response
	err := e.client.Post(ctx, "chat/completions", body, &answer, option.WithResponseInto(&response))
	took := e.now().Sub(start)
	if err != nil {
		return judge.Reply{}, err
	}
	a, err := e.completionOf(response, answer)
	if err != nil {
		return judge.Reply{}, err
	}
	reply := judge.Reply{
		Text: e.secrets.Replace(a.text), Refusal: e.secrets.Replace(a.refusal), FinishReason: a.finishReason,
		Model: e.secrets.Replace(a.model), Endpoint: e.host, Parameters: sent,
		Tokens: a.tokens, Latency: took, StartedAt: start,
	}
	var known bool
	reply.CostUSD, known = e.cost(model, reply.Tokens)
	reply.Unpriced = !known
	return reply, nil
}

// message is the endpoint's own words about an error.
func message(err *openai.Error) string {
	text := err.Message
	if text == "" {
		text = err.RawJSON()
	}
	if text == "" {
		text = http.StatusText(err.StatusCode)
	}
	return strings.ToValidUTF8(text[:min(len(text), 2000)], "")
}

// failure is an error of a call as the harness understands it. The library's
// own error may hold the request with its key and goes no further.
func (e *Engine) failure(err error) *judge.TransportError {
	var known *judge.TransportError
	if errors.As(err, &known) {
		return known
	}
	var refused *openai.Error
	if errors.As(err, &refused) {
		status := refused.StatusCode
		f := &judge.TransportError{
			Status: status, Message: e.secrets.Replace(message(refused)), Endpoint: e.host,
			Temporary: status == http.StatusTooManyRequests || status == http.StatusRequestTimeout || status >= 500,
		}
		if refused.Response != nil {
			f.RetryAfter = retryAfter(refused.Response.Header, e.now())
		}
		return f
	}
	text := err.Error()
	if errors.Is(err, context.DeadlineExceeded) {
		text = "no reply within the time allowed for a call"
	}
	return &judge.TransportError{Message: e.secrets.Replace(text), Endpoint: e.host, Temporary: true}
}

// retryAfter reads Retry-After (seconds or a date, RFC 9110) and the
// millisecond form that some endpoints send; 0 when there is none.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	value := h.Get("Retry-After")
	if seconds, err := strconv.ParseFloat(value, 64); err == nil && seconds > 0 && seconds < 1e9 {
		return time.Duration(seconds * float64(time.Second))
	}
	if at, err := http.ParseTime(value); err == nil && at.After(now) {
		return at.Sub(now)
	}
	return 0
}
