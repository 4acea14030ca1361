-- +goose Up
-- What people write around a decision: drafts, questions, corrections; and what they looked at.

-- What a person has typed and chosen on an item and not signed yet. An empty
-- body was signed, or given up: the row stays so that versions go on counting.
CREATE TABLE drafts (
    review_id TEXT NOT NULL REFERENCES reviews (id),
    user_id   TEXT NOT NULL REFERENCES users (id),
    version   INTEGER NOT NULL, -- raised with every save
    tab       TEXT NOT NULL,    -- which page saved it: its own saves never conflict; empty: unknown
    seq       BIGINT NOT NULL,  -- of that page's saves: one that arrives late is dropped
    body      TEXT NOT NULL,    -- store.DraftBody as JSON
    saved_at  TIMESTAMP NOT NULL,
    PRIMARY KEY (review_id, user_id)
);
CREATE INDEX drafts_user ON drafts (user_id, saved_at) WHERE body <> '';
CREATE INDEX drafts_age ON drafts (saved_at);

-- What people ask each other about an item. Never edited: one that is taken
-- back loses its text.
CREATE TABLE comments (
    id            TEXT PRIMARY KEY,
    review_id     TEXT NOT NULL REFERENCES reviews (id),
    parent_id     TEXT REFERENCES comments (id), -- the comment that begins the thread
    user_id       TEXT NOT NULL REFERENCES users (id),
    addressee     TEXT NOT NULL,    -- who is asked: a user's id or a role; empty: anybody
    body          TEXT NOT NULL,
    nonce         TEXT NOT NULL,    -- goes into the digest that the audit event holds
    knew_verdict  BOOLEAN NOT NULL, -- the author knew the judge's verdict, or was not kept from it
    knew_peers    BOOLEAN NOT NULL, -- the author knew what others said, or had said something themselves
    created_at    TIMESTAMP NOT NULL,
    withdrawn_at  TIMESTAMP,
    resolved_at   TIMESTAMP,        -- of a thread's first comment
    resolved_by   TEXT REFERENCES users (id)
);
CREATE INDEX comments_review ON comments (review_id, created_at, id);
CREATE INDEX comments_addressee ON comments (addressee) WHERE addressee <> '' AND resolved_at IS NULL AND withdrawn_at IS NULL;

-- That the reference or a source of a trace is itself wrong or outdated, as
-- somebody said who ruled on it. Never edited.
CREATE TABLE corrections (
    id          TEXT PRIMARY KEY,
    project_id  TEXT NOT NULL REFERENCES projects (id),
    review_id   TEXT NOT NULL REFERENCES reviews (id),
    trace_id    TEXT NOT NULL REFERENCES traces (id),
    user_id     TEXT NOT NULL REFERENCES users (id),
    target      TEXT NOT NULL, -- reference, question, premise:N, source:ID
    kind        TEXT NOT NULL CHECK (kind = 'wrong' OR kind = 'outdated'),
    explanation TEXT NOT NULL,
    before      TEXT NOT NULL, -- the text as it was
    replacement TEXT NOT NULL,
    proposed_at TIMESTAMP NOT NULL
);
CREATE INDEX corrections_project ON corrections (project_id, proposed_at);
CREATE INDEX corrections_review ON corrections (review_id);

-- What became of a correction. Never edited.
CREATE TABLE correction_answers (
    correction_id TEXT PRIMARY KEY REFERENCES corrections (id),
    user_id       TEXT NOT NULL REFERENCES users (id),
    outcome       TEXT NOT NULL CHECK (outcome = 'accepted' OR outcome = 'declined' OR outcome = 'withdrawn'),
    comment       TEXT NOT NULL,
    replacement   TEXT NOT NULL,               -- of who accepted it, where the proposal had none
    trace_id      TEXT REFERENCES traces (id), -- the revision that an accepted one made
    answered_at   TIMESTAMP NOT NULL
);

-- The correction that an item waits for, or by which it was closed; empty: none.
-- Nobody is given it meanwhile.
ALTER TABLE reviews ADD COLUMN correction_id TEXT NOT NULL DEFAULT '';

-- Who looked at what, once for each person, page and ten minutes.
CREATE TABLE views_log (
    evaluation_id TEXT NOT NULL REFERENCES evaluations (id),
    user_id       TEXT NOT NULL REFERENCES users (id),
    what          TEXT NOT NULL,    -- desk, evaluation, …
    sealed        BOOLEAN NOT NULL, -- the judge's answer was kept from them
    seen_at       TIMESTAMP NOT NULL, -- the first time in these ten minutes
    PRIMARY KEY (evaluation_id, user_id, what, sealed, seen_at)
);
CREATE INDEX views_log_age ON views_log (seen_at);

-- +goose StatementBegin
CREATE TRIGGER corrections_no_update BEFORE UPDATE ON corrections BEGIN SELECT RAISE(ABORT, 'corrections are append-only'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER corrections_no_delete BEFORE DELETE ON corrections BEGIN SELECT RAISE(ABORT, 'corrections are append-only'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER correction_answers_no_update BEFORE UPDATE ON correction_answers BEGIN SELECT RAISE(ABORT, 'correction answers are append-only'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER correction_answers_no_delete BEFORE DELETE ON correction_answers BEGIN SELECT RAISE(ABORT, 'correction answers are append-only'); END;
-- +goose StatementEnd
