package web

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/views"
)

// actionWords says what an audit event means in a few words.
var actionWords = map[string]string{
	"trace.imported":         "Trace received",
	"labels.imported":        "Labels imported",
	"judge.saved":            "Judge stored",
	"evaluation.queued":      "An evaluation of the trace queued",
	"evaluation.judged":      "Judged",
	"evaluation.retried":     "Sent to the judge again",
	"evaluation.exposed":     "Judge's verdict looked at before answering",
	"evaluation.requested":   "Sent to review",
	"review.opened":          "Put in the queue",
	"review.requested":       "Sent to review",
	"review.claimed":         "Claimed",
	"review.released":        "Given back",
	"review.skipped":         "Skipped",
	"review.first_answer":    "Blind answer committed",
	"review.escalated":       "Escalated to a lead",
	"review.abstained":       "Could not judge it",
	"review.opinions_raised": "More opinions asked for",
	"review.reassigned":      "Sent to somebody else",
	"review.reopened":        "Reopened",
	"decision.made":          "Signed",
	"decision.undone":        "Taken back",
	"opinion.given":          "Opinion signed",
	"opinion.added":          "Second opinion signed",
	"comment.added":          "Asked or answered a question",
	"comment.withdrawn":      "Took a comment back",
	"comment.resolved":       "Marked a question as answered",
	"comment.reopened":       "Opened a question again",
	"correction.proposed":    "Correction proposed",
	"correction.accepted":    "Correction accepted",
	"correction.declined":    "Correction declined",
	"correction.withdrawn":   "Correction taken back",
	"trace.corrected":        "Trace corrected, as a new revision",
	"user.created":           "Account made",
	"user.signed_in":         "Signed in",
	"user.signed_out":        "Signed out",
	"user.sign_in_failed":    "Sign-in refused",
	"user.password_changed":  "Password changed",
	"user.disabled":          "Account disabled",
	"token.created":          "Token made",
	"token.revoked":          "Token revoked",
	"project.created":        "Project made",
	"policy.changed":         "Policy changed",
	"run.budget_set":         "Budget of a run set",
	"run.stopped":            "Run stopped by its budget",
	"run.retried":            "Failed ones of a run judged again",
	"rerun.started":          "History judged again",
	"rerun.stopped":          "Judging again stopped",
	"evaluation.requeued":    "Refused ones queued again",
	"examples.drawn":         "Examples drawn",
}

func actionText(action string) string {
	if w, ok := actionWords[action]; ok {
		return w
	}
	return words(strings.NewReplacer(".", " ", "_", " ").Replace(action))
}

// history is audit events as a timeline, oldest first.
func history(events []store.AuditEvent) []views.Event {
	sorted := slices.SortedFunc(slices.Values(events), func(a, b store.AuditEvent) int { return cmp.Compare(a.Seq, b.Seq) })
	lines := make([]views.Event, len(sorted))
	for i, e := range sorted {
		what := actionText(e.Action)
		if !e.Allowed {
			what += " (refused)"
		}
		lines[i] = views.Event{At: e.At, ByPerson: e.ActorID != "", Who: e.Actor, What: what, Note: eventNote(e.Data), Hash: e.Hash}
	}
	return lines
}

// eventNote is what a person wrote with an event.
func eventNote(data json.RawMessage) string {
	var d struct {
		Comment string `json:"comment"`
	}
	if json.Unmarshal(data, &d) != nil {
		return ""
	}
	return d.Comment
}

// sortedByCitation puts rulings in the order of the trace.
func sortedByCitation(f []judge.Finding) []judge.Finding {
	slices.SortFunc(f, func(a, b judge.Finding) int { return cmp.Compare(a.Citation, b.Citation) })
	return f
}
