package main

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/store"
)

// TestUpgradeIsTold: when it begins and when it is done; between, not with each step.
func TestUpgradeIsTold(t *testing.T) {
	c := newConsole(t, nil)
	tell := c.tellUpgrade()
	for _, done := range []int64{0, 500, 1000, 1200} {
		tell(store.Upgrade{What: "counting what judges did", Done: done, Total: 1200})
	}
	said := strings.Split(strings.TrimSpace(c.messages.String()), "\n")
	if len(said) != 2 || !strings.Contains(said[0], "older version; counting what judges did, once: 1,200 evaluations") || !strings.HasSuffix(said[1], ": 1,200 of 1,200") {
		t.Errorf("said %q", said)
	}
}
