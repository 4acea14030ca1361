package store

import (
	"context"
	"encoding/json"
	"slices"
)

// peersSealedFor gives the condition that what others said on an evaluation's
// item is kept from an actor: from everybody who may still give an answer of
// their own there and has not, whether the item is blind or not. Who has answered
// or abstained sees it, and so does who settles the item in adjudication. An item
// that was decided before is open: everybody could read it.
func peersSealedFor(a Actor, evaluationID string) sealing {
	if !a.MayDecide() {
		return sealing{sql: `(1 = 0)`, value: `FALSE`}
	}
	of := `FROM reviews peer_r WHERE peer_r.evaluation_id = ` + evaluationID + ` AND NOT peer_r.adjudicating AND NOT peer_r.reopened
  AND (peer_r.state IN ('open', 'claimed')
    OR peer_r.state = 'closed' AND EXISTS (SELECT 1 FROM evaluations peer_e WHERE peer_e.id = peer_r.evaluation_id AND peer_e.status <> 'final'))
  AND NOT EXISTS (SELECT 1 FROM decisions peer_d WHERE peer_d.review_id = peer_r.id AND peer_d.user_id = ? AND NOT peer_d.over_quota
    AND peer_d.round = peer_r.round AND NOT EXISTS (SELECT 1 FROM undone_decisions peer_z WHERE peer_z.decision_id = peer_d.id))`
	return sealing{
		sql:   `EXISTS (SELECT 1 ` + of + `)`,
		value: `COALESCE((SELECT TRUE ` + of + ` LIMIT 1), FALSE)`,
		args:  []any{a.UserID},
	}
}

// peersSealed says whether what others said on an evaluation is kept from an
// actor.
func peersSealed(ctx context.Context, q querier, a Actor, evaluationID string) (sealed bool, err error) {
	seal := peersSealedFor(a, "e.id")
	err = q.QueryRowContext(ctx, `SELECT `+seal.value+` FROM evaluations e WHERE e.id = ?`, append(slices.Clone(seal.args), evaluationID)...).Scan(&sealed)
	return sealed, err
}

// labelsFor is a condition on labels l that leaves out what others said on items
// that the actor may still answer.
func labelsFor(a Actor) sealing {
	peers := peersSealedFor(a, "l.evaluation_id")
	return sealing{sql: `(l.source <> 'decision' OR l.reviewer = ? OR NOT ` + peers.sql + `)`, args: append([]any{a.UserID}, peers.args...)}
}

// sealPeerEvents leaves the actor's own events, and of the others' those that
// tell nothing, without their data.
func sealPeerEvents(events []AuditEvent, a Actor) []AuditEvent {
	var kept []AuditEvent
	for _, e := range events {
		switch {
		case e.ActorID == "" || e.ActorID == a.UserID: // the judge's side, which is not sealed, or their own
			kept = append(kept, e)
		case slices.Contains(openActions, e.Action):
			e.Data = json.RawMessage(`{}`)
			kept = append(kept, e)
		}
	}
	return kept
}
