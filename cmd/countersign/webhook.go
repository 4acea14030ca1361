package main

import (
	"os"
	"strings"

	"github.com/countersign/countersign/web/webhook"
)

// webhookFlags say where alarms are told. The secret is never a flag: others on the
// machine see those.
type webhookFlags struct {
	WebhookURL        string `name:"webhook-url" help:"Address to which drift alarms are posted as signed JSON (docs/drift.md)." placeholder:"URL" env:"COUNTERSIGN_WEBHOOK_URL" config:"webhook_url"`
	WebhookSecretFile string `name:"webhook-secret-file" help:"File with the secret that signs these messages, 16 bytes or more; else COUNTERSIGN_WEBHOOK_SECRET." placeholder:"FILE" env:"COUNTERSIGN_WEBHOOK_SECRET_FILE" config:"webhook_secret_file"`
}

// sender of messages; nil: no address is given.
func (f webhookFlags) sender(s *state) (*webhook.Sender, error) {
	if f.WebhookURL == "" {
		return nil, nil
	}
	secret := []byte(s.env("COUNTERSIGN_WEBHOOK_SECRET"))
	if f.WebhookSecretFile != "" {
		text, err := os.ReadFile(f.WebhookSecretFile)
		if err != nil {
			return nil, usagef("the webhook's secret: %w", err)
		}
		secret = []byte(strings.TrimSpace(string(text)))
	}
	if err := webhook.Check(f.WebhookURL, secret); err != nil {
		return nil, usagef("%w", err)
	}
	return &webhook.Sender{URL: f.WebhookURL, Secret: secret, Log: s.log, Now: s.now}, nil
}
