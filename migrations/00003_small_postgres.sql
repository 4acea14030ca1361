-- +goose Up
-- Makes rows small: hashes as bytes, large texts packed against what they
-- repeat, one packed detail for each round of judging, narrower indexes. No
-- PostgreSQL database is older than this file, so nothing is carried over.

CREATE TABLE dictionaries (
    id         BIGINT PRIMARY KEY,
    kind       TEXT NOT NULL,
    name       TEXT NOT NULL,
    body       BYTEA NOT NULL,
    created_at TIMESTAMP NOT NULL,
    UNIQUE (kind, name)
);

ALTER TABLE traces DROP CONSTRAINT traces_body_hash_fkey;
ALTER TABLE texts ALTER COLUMN hash TYPE BYTEA USING decode(hash, 'hex'), DROP COLUMN codec;
ALTER TABLE texts ADD COLUMN codec INTEGER NOT NULL, ADD COLUMN dictionary BIGINT NOT NULL DEFAULT 0, ADD COLUMN base TEXT NOT NULL DEFAULT '';
ALTER TABLE texts ALTER COLUMN body SET STORAGE EXTERNAL; -- packed already

ALTER TABLE traces ALTER COLUMN content_hash TYPE BYTEA USING decode(content_hash, 'hex'),
    ALTER COLUMN candidate_hash TYPE BYTEA USING decode(candidate_hash, 'hex'),
    ALTER COLUMN reference_hash TYPE BYTEA USING decode(reference_hash, 'hex'),
    ALTER COLUMN reference_hash DROP NOT NULL,
    ALTER COLUMN body_hash TYPE BYTEA USING decode(body_hash, 'hex'),
    ADD FOREIGN KEY (body_hash) REFERENCES texts (hash);

DROP INDEX evaluations_newest;
DROP INDEX evaluations_status;
DROP INDEX evaluations_judge;
DROP INDEX evaluations_reasoned;
DROP INDEX evaluations_work;
ALTER TABLE evaluations DROP COLUMN judgment_hash, DROP COLUMN judgment_body; -- and with the first its unique key
ALTER TABLE evaluations ADD COLUMN judgment_body BYTEA, ADD COLUMN identity BIGINT NOT NULL, ADD UNIQUE (trace_id, identity);
CREATE INDEX evaluations_newest ON evaluations (project_id, id);
CREATE INDEX evaluations_status ON evaluations (project_id, status, id);
CREATE INDEX evaluations_judge ON evaluations (project_id, judge, id);
CREATE INDEX evaluations_reasoned ON evaluations (project_id, id) WHERE lead_reason <> '';
CREATE INDEX evaluations_work ON evaluations (id) WHERE status IN ('queued', 'judging');

DROP TABLE evaluation_reports;
CREATE TABLE evaluation_reports (
    evaluation_id TEXT NOT NULL REFERENCES evaluations (id),
    round         INTEGER NOT NULL,
    current       BOOLEAN NOT NULL,
    codec         INTEGER NOT NULL,
    dictionary    BIGINT NOT NULL DEFAULT 0,
    detail        BYTEA NOT NULL,
    PRIMARY KEY (evaluation_id, round)
);
ALTER TABLE evaluation_reports ALTER COLUMN detail SET STORAGE EXTERNAL;

DROP TABLE attempts;
CREATE TABLE attempts (
    evaluation_id     TEXT NOT NULL REFERENCES evaluations (id),
    number            INTEGER NOT NULL,
    prompt_hash       BYTEA,
    reply_hash        BYTEA,
    prompt_tokens     INTEGER NOT NULL,
    completion_tokens INTEGER NOT NULL,
    cost_usd          DOUBLE PRECISION NOT NULL,
    latency_ms        BIGINT NOT NULL,
    started_at        TIMESTAMP NOT NULL,
    PRIMARY KEY (evaluation_id, number)
);
CREATE TRIGGER attempts_append_only BEFORE UPDATE OR DELETE ON attempts FOR EACH ROW EXECUTE FUNCTION append_only();

ALTER TABLE audit_events ALTER COLUMN prev_hash DROP NOT NULL;
ALTER TABLE audit_events ALTER COLUMN prev_hash TYPE BYTEA USING decode(NULLIF(prev_hash, ''), 'hex'), ALTER COLUMN hash TYPE BYTEA USING decode(hash, 'hex');
