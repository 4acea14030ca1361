package store

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"time"

	"github.com/countersign/countersign/judge"
)

// subject is an evaluation as far as its item in the queue repeats it.
type subject struct {
	evaluationID string
	projectID    string
	project      string // name
	policy       judge.Policy
	traceID      string
	externalID   string
	judge        string
	domain       string
	stakes       judge.Stakes
	title        string
}

// leadReason is the most urgent of the reasons; among equals the first.
func leadReason(reasons []judge.Reason) string {
	lead := ""
	for _, r := range reasons {
		if lead == "" || judge.ReasonRank(r.Code) < judge.ReasonRank(lead) {
			lead = r.Code
		}
	}
	return lead
}

// urgency is the queue's first key: the reason's rank, and in it high stakes
// first. A lead's priority goes before it: see queuePlace.
func urgency(lead string, stakes judge.Stakes) int {
	if stakes == judge.HighStakes {
		return 2 * judge.ReasonRank(lead)
	}
	return 2*judge.ReasonRank(lead) + 1
}

// enqueue opens the evaluation's item in the queue. An item that was closed
// undecided before (the evaluation was retried) opens again. An evaluation whose
// verdict was open to everybody until now (it was accepted) is not blind: who
// saw it can't be told any more.
func (t *tx) enqueue(ctx context.Context, s subject, lead string, draw judge.Draw, seen bool) error {
	opinions := s.policy.OpinionsFor(lead, s.domain, s.stakes)
	blind := !seen && drawBlind(s.policy, s.evaluationID, lead, s.stakes)
	due := s.policy.QueueHours(lead, blind, s.stakes, s.domain)
	_, err := t.exec(ctx, `
INSERT INTO reviews (id, project_id, evaluation_id, trace_id, external_id, judge, domain, stakes, title, state, urgency,
    lead_reason, blind, stratum, inclusion_probability, due_at, opened_at, policy_version,
    opinions_required, language)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'open', ?, ?, ?, ?, ?, ?, ?, ?, ?, (SELECT tr.language FROM traces tr WHERE tr.id = ?))`+reopenedTail,
		t.newID(), s.projectID, s.evaluationID, s.traceID, s.externalID, s.judge, s.domain, string(s.stakes), s.title,
		urgency(s.policy.QueueReason(lead, blind), s.stakes), lead, blind, draw.Stratum, draw.InclusionProbability,
		t.now.Add(time.Duration(due)*time.Hour), t.now, s.policy.Version,
		opinions, s.traceID)
	if err != nil {
		return err
	}
	if err := t.noteConflicts(ctx, s.evaluationID); err != nil {
		return err
	}
	t.tally(s.projectID, tallyQueue, queueName(lead, blind), 1)
	return nil
}

// reopenedTail opens an item again that was closed undecided before.
const reopenedTail = `
ON CONFLICT (evaluation_id) DO UPDATE SET state = 'open', urgency = excluded.urgency, lead_reason = excluded.lead_reason,
    blind = excluded.blind, stratum = excluded.stratum, inclusion_probability = excluded.inclusion_probability,
    due_at = excluded.due_at, opened_at = excluded.opened_at, policy_version = excluded.policy_version, holder_id = NULL, claimed_at = NULL,
    lease_expires_at = NULL, adjudicating = FALSE, decided_at = NULL, opinions_required = excluded.opinions_required, round = reviews.round + 1,
    opinions = 0, abstentions = 0, addressee = '', reopened = FALSE, priority = 0, assigned_to = NULL`

// drawBlind says whether an item is reviewed blind. For a share, the draw
// depends on the policy's seed and the evaluation only, so it can be repeated.
func drawBlind(p judge.Policy, evaluationID, lead string, stakes judge.Stakes) bool {
	share := p.BlindShareOf(lead, stakes)
	if share <= 0 || share >= 1 {
		return share >= 1
	}
	sum := sha256.Sum256([]byte("blind\x00" + p.Seed + "\x00" + evaluationID))
	return float64(binary.BigEndian.Uint64(sum[:8])) < share*math.MaxUint64
}
