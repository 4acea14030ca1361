-- +goose Up
-- Several opinions on one item, who settles it, what a signature means, and what was taken back.

ALTER TABLE reviews ADD COLUMN opinions_required INTEGER NOT NULL DEFAULT 1; -- by the policy when it was opened; a lead may raise it
ALTER TABLE reviews ADD COLUMN round INTEGER NOT NULL DEFAULT 0;       -- how often it was opened anew, for another report
ALTER TABLE reviews ADD COLUMN opinions INTEGER NOT NULL DEFAULT 0;    -- of this round that stand
ALTER TABLE reviews ADD COLUMN abstentions INTEGER NOT NULL DEFAULT 0; -- people who could not judge it in this round
ALTER TABLE reviews ADD COLUMN addressee TEXT NOT NULL DEFAULT '';     -- who alone settles it: a user's id or a role; empty: leads and admins
ALTER TABLE reviews ADD COLUMN reopened BOOLEAN NOT NULL DEFAULT FALSE; -- it was decided before, so everybody could read what was said
UPDATE reviews SET reopened = TRUE
WHERE state IN ('open', 'claimed', 'adjudication')
  AND EXISTS (SELECT 1 FROM decisions d WHERE d.review_id = reviews.id AND d.action IN ('confirm', 'override'));
CREATE INDEX reviews_addressee ON reviews (addressee, project_id, urgency, due_at, id) WHERE addressee <> '' AND state IN ('open', 'claimed', 'adjudication');

ALTER TABLE first_answers ADD COLUMN rulings TEXT NOT NULL DEFAULT '[]'; -- JSON array
ALTER TABLE decisions ADD COLUMN rulings TEXT NOT NULL DEFAULT '[]';
ALTER TABLE decisions ADD COLUMN round INTEGER NOT NULL DEFAULT 0;      -- reviews.round then
ALTER TABLE decisions ADD COLUMN severity TEXT NOT NULL DEFAULT '';     -- of the judge's fault: critical, major, minor
ALTER TABLE decisions ADD COLUMN addressee TEXT NOT NULL DEFAULT '';    -- of an escalation
ALTER TABLE decisions ADD COLUMN over_quota BOOLEAN NOT NULL DEFAULT FALSE; -- added when the item was settled: changes no result
ALTER TABLE decisions ADD COLUMN nonce TEXT NOT NULL DEFAULT '';        -- goes into the digest that the audit event holds

-- Who signed a decision, as what, on what. Never edited.
CREATE TABLE signatures (
    decision_id   TEXT PRIMARY KEY REFERENCES decisions (id),
    name          TEXT NOT NULL, -- as it was then
    role          TEXT NOT NULL,
    qualification TEXT NOT NULL,
    affirmation   TEXT NOT NULL, -- the wording of what signing affirms
    wording       INTEGER NOT NULL, -- its version
    shown         TEXT NOT NULL, -- what was on the screen: JSON
    signed_at     TIMESTAMP NOT NULL
);

-- Decisions that were taken back by who gave them, before anything was built
-- on them. Never edited.
CREATE TABLE undone_decisions (
    decision_id TEXT PRIMARY KEY REFERENCES decisions (id),
    undone_at   TIMESTAMP NOT NULL
);

-- Labels that no figure counts: opinions on an item that is not settled yet,
-- answers that came too late, and what was taken back.
CREATE TABLE withheld_labels (
    label_id    TEXT PRIMARY KEY REFERENCES labels (id),
    decision_id TEXT NOT NULL REFERENCES decisions (id),
    why         TEXT NOT NULL CHECK (why = 'waits' OR why = 'over_quota' OR why = 'undone')
);
CREATE INDEX withheld_labels_decision ON withheld_labels (decision_id);
CREATE INDEX decisions_person ON decisions (review_id, user_id);
CREATE INDEX labels_decision ON labels (decision_id) WHERE decision_id IS NOT NULL;

CREATE TRIGGER signatures_append_only BEFORE UPDATE OR DELETE ON signatures FOR EACH ROW EXECUTE FUNCTION append_only();
CREATE TRIGGER undone_decisions_append_only BEFORE UPDATE OR DELETE ON undone_decisions FOR EACH ROW EXECUTE FUNCTION append_only();
