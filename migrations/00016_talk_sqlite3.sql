-- +goose Up
-- What people write around a decision: drafts.

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
