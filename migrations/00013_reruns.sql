-- +goose Up
-- History that is judged once more: what failed, or everything by another
-- version or model. Workers queue it in batches (store/reruns.go).
CREATE TABLE reruns (
    id               TEXT PRIMARY KEY,
    project_id       TEXT NOT NULL REFERENCES projects (id),
    run_id           TEXT REFERENCES runs (id), -- that pays; null: none
    judge            TEXT NOT NULL,
    ask              TEXT NOT NULL, -- RerunAsk as JSON
    estimate         TEXT NOT NULL, -- RerunEstimate as JSON, as it was shown
    asked_by         TEXT NOT NULL,
    state            TEXT NOT NULL CHECK (state = 'queueing' OR state = 'queued' OR state = 'stopped'),
    after            TEXT NOT NULL, -- the last evaluation that was looked at
    queued           BIGINT NOT NULL,
    skipped          BIGINT NOT NULL, -- there already, or refused at once
    fence            BIGINT NOT NULL,
    lease_expires_at TIMESTAMP,
    created_at       TIMESTAMP NOT NULL
);
CREATE INDEX reruns_project ON reruns (project_id, id);
CREATE INDEX reruns_open ON reruns (id) WHERE state = 'queueing';
