package openai_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/openai"
)

// Azure wants the version of its interface in the query of each call; a gateway
// may want its key there, which then is told nobody.
func TestQueryIsKept(t *testing.T) {
	const secret = "query-secret-4711"
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Path+"?"+r.URL.RawQuery)
		if len(asked) == 2 {
			fault(401, "no such key: "+secret, "")(w, r)
			return
		}
		says("since 2024-10-21")(w, r)
	}))
	defer server.Close()
	engine, err := openai.New(openai.Config{BaseURL: server.URL + "/openai/deployments/d/?api-version=2024-10-21&subscription-key=" + secret + "#part"})
	if err != nil {
		t.Fatal(err)
	}
	reply, err := engine.Reply(context.Background(), conversation, params())
	if err != nil {
		t.Fatal(err)
	}
	if reply.Text != "since 2024-10-21" {
		t.Errorf("reply %q: a version is no secret", reply.Text)
	}
	_, err = engine.Reply(context.Background(), conversation, params())
	if err == nil || strings.Contains(err.Error(), secret) || !strings.Contains(err.Error(), "[hidden]") {
		t.Errorf("error %v, want one with the secret hidden", err)
	}
	const want = "/openai/deployments/d/chat/completions?api-version=2024-10-21&subscription-key=" + secret
	if diff := cmp.Diff([]string{want, want}, asked); diff != "" {
		t.Errorf("addresses (-want +got):\n%s", diff)
	}
}

func TestEndpoint(t *testing.T) {
	for _, tt := range []struct {
		config openai.Config
		want   judge.Endpoint
	}{
		{openai.Config{}, judge.Endpoint{Name: "api.openai.com", Host: "api.openai.com"}},
		{openai.Config{Name: "ward-7", BaseURL: "http://10.0.0.7:8000/v1?key=abcd"}, judge.Endpoint{Name: "ward-7", Host: "10.0.0.7:8000"}},
	} {
		engine, err := openai.New(tt.config)
		if err != nil {
			t.Fatal(err)
		}
		if got := judge.EndpointOf(engine); got != tt.want {
			t.Errorf("endpoint %+v, want %+v", got, tt.want)
		}
	}
	if _, err := openai.New(openai.Config{BaseURL: "http://host/v1?a=%zz"}); err == nil {
		t.Error("a query that cannot be read is taken")
	}
}
