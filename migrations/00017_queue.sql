-- +goose Up
-- The queue: who an item is for, where it stands, and what keeps it from whom.

-- 1 to 3: set by a lead; 0: the place follows from reason and stakes.
ALTER TABLE reviews ADD COLUMN priority INTEGER NOT NULL DEFAULT 0;
ALTER TABLE reviews ADD COLUMN assigned_to TEXT REFERENCES users (id);
-- The language of the trace (ISO 639), where its metadata names one.
ALTER TABLE reviews ADD COLUMN language TEXT NOT NULL DEFAULT '';
ALTER TABLE traces ADD COLUMN language TEXT NOT NULL DEFAULT '';

-- The queue's order as before; what a person may not take is left out without
-- reading its row.
DROP INDEX reviews_queue;
CREATE INDEX reviews_queue ON reviews (project_id, urgency, due_at, id, judge, domain, stakes, language, assigned_to) WHERE state IN ('open', 'claimed', 'adjudication');
DROP INDEX reviews_free;
CREATE INDEX reviews_free ON reviews (project_id, urgency, due_at, id, judge, domain, stakes, language, assigned_to) WHERE state IN ('open', 'claimed') AND NOT adjudicating;
CREATE INDEX reviews_assigned ON reviews (project_id, assigned_to, urgency, due_at, id) WHERE assigned_to IS NOT NULL AND state IN ('open', 'claimed', 'adjudication');
-- What waits for one leading reason. The reason comes first, so that nothing else
-- is looked for in this index.
CREATE INDEX reviews_lead ON reviews (lead_reason, project_id, urgency, due_at, id) WHERE state IN ('open', 'claimed', 'adjudication');

-- Until when a skipped item is not given to who skipped it; null: skipped by an
-- earlier program, which gave it last.
ALTER TABLE review_skips ADD COLUMN hidden_until TIMESTAMP;
CREATE INDEX review_skips_user ON review_skips (user_id, hidden_until);

-- What is known of a person besides their role. Lists are JSON arrays of texts.
CREATE TABLE member_profiles (
    user_id        TEXT PRIMARY KEY REFERENCES users (id),
    title          TEXT NOT NULL,
    domains        TEXT NOT NULL,
    languages      TEXT NOT NULL,
    qualifications TEXT NOT NULL,
    conflicts      TEXT NOT NULL,
    time_zone      TEXT NOT NULL -- of the IANA database; empty: UTC
);

-- Waiting items that a person has a conflict of interest with, by what their
-- profile names (store/conflicts.go).
CREATE TABLE review_conflicts (
    review_id TEXT NOT NULL REFERENCES reviews (id),
    user_id   TEXT NOT NULL REFERENCES users (id),
    matched   TEXT NOT NULL, -- the entry of the profile
    PRIMARY KEY (user_id, review_id)
);

-- Filters of the queue under a name, of one person, or of all when shared.
CREATE TABLE queue_views (
    id         TEXT PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES projects (id),
    user_id    TEXT NOT NULL REFERENCES users (id),
    name       TEXT NOT NULL,
    filters    TEXT NOT NULL, -- as in the address, after the question mark
    shared     BOOLEAN NOT NULL,
    created_at TIMESTAMP NOT NULL,
    UNIQUE (project_id, user_id, name)
);
