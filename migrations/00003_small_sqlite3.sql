-- +goose NO TRANSACTION
-- +goose Up
-- Makes rows small: hashes as bytes, large texts packed against what they
-- repeat, one packed detail for each round of judging, narrower indexes. Tables
-- that others refer to are made anew, so foreign keys are off meanwhile; the
-- statements stand in one transaction of their own.
PRAGMA foreign_keys = off;
BEGIN IMMEDIATE;

-- What texts of one kind repeat; others of the kind are packed with it.
CREATE TABLE dictionaries (
    id         BIGINT PRIMARY KEY,
    kind       TEXT NOT NULL, -- trace, prompt or detail
    name       TEXT NOT NULL, -- of traces: the project; else the prompt version
    body       BYTEA NOT NULL,
    created_at TIMESTAMP NOT NULL,
    UNIQUE (kind, name)
);

CREATE TABLE new_texts (
    hash       BYTEA PRIMARY KEY, -- SHA-256 of the plain text
    codec      INTEGER NOT NULL,  -- package store/pack
    dictionary BIGINT NOT NULL DEFAULT 0, -- dictionaries.id; 0 = none
    base       TEXT NOT NULL DEFAULT '',  -- what it is packed against; see store/bases.go
    body       BYTEA NOT NULL
);
INSERT INTO new_texts (hash, codec, body) SELECT unhex(hash), CASE codec WHEN 'zstd' THEN 1 ELSE 0 END, body FROM texts;
DROP TABLE texts;
ALTER TABLE new_texts RENAME TO texts;

CREATE TABLE new_traces (
    id             TEXT PRIMARY KEY,
    project_id     TEXT NOT NULL REFERENCES projects (id),
    external_id    TEXT NOT NULL,
    revision       INTEGER NOT NULL,
    current        BOOLEAN NOT NULL,
    content_hash   BYTEA NOT NULL,
    candidate_hash BYTEA NOT NULL,
    reference_hash BYTEA,
    domain         TEXT NOT NULL,
    stakes         TEXT NOT NULL CHECK (stakes = 'high' OR stakes = 'standard'),
    title          TEXT NOT NULL,
    cluster        TEXT NOT NULL,
    body_hash      BYTEA NOT NULL REFERENCES texts (hash), -- the content as JSON; long sources are texts of their own
    created_at     TIMESTAMP NOT NULL,
    UNIQUE (project_id, external_id, revision)
);
INSERT INTO new_traces SELECT id, project_id, external_id, revision, current, unhex(content_hash), unhex(candidate_hash),
    unhex(reference_hash), domain, stakes, title, cluster, unhex(body_hash), created_at FROM traces;
DROP TABLE traces;
ALTER TABLE new_traces RENAME TO traces;
CREATE UNIQUE INDEX traces_current ON traces (project_id, external_id) WHERE current;

CREATE TABLE new_run_traces (
    run_id   TEXT NOT NULL REFERENCES runs (id),
    trace_id TEXT NOT NULL REFERENCES traces (id),
    PRIMARY KEY (run_id, trace_id)
) WITHOUT ROWID;
INSERT INTO new_run_traces SELECT run_id, trace_id FROM run_traces;
DROP TABLE run_traces;
ALTER TABLE new_run_traces RENAME TO run_traces;
CREATE INDEX run_traces_trace ON run_traces (trace_id);

CREATE TABLE new_evaluations (
    id                TEXT PRIMARY KEY,
    project_id        TEXT NOT NULL REFERENCES projects (id),
    trace_id          TEXT NOT NULL REFERENCES traces (id),
    judge             TEXT NOT NULL,
    prompt_version    TEXT NOT NULL,
    engine            TEXT NOT NULL CHECK (engine = 'openai' OR engine = 'rules' OR engine = 'recorded'),
    model             TEXT NOT NULL,
    identity          BIGINT NOT NULL, -- of judge, version, engine, model and recorded report; see store/import_prepare.go
    judgment_body     BYTEA, -- recorded reports: texts.hash of the judgment as JSON
    status            TEXT NOT NULL CHECK (status = 'queued' OR status = 'judging' OR status = 'refused' OR status = 'accepted' OR status = 'in_review' OR status = 'final'),
    score             DOUBLE PRECISION,
    verdict           TEXT NOT NULL DEFAULT '' CHECK (verdict = '' OR verdict = 'pass' OR verdict = 'borderline' OR verdict = 'fail'),
    label             TEXT NOT NULL DEFAULT '',
    critical          BOOLEAN NOT NULL DEFAULT FALSE,
    lead_reason       TEXT NOT NULL DEFAULT '',
    refused_field     TEXT NOT NULL DEFAULT '',
    error             TEXT NOT NULL DEFAULT '',
    attempts          INTEGER NOT NULL DEFAULT 0,
    repairs           INTEGER NOT NULL DEFAULT 0,
    transport_retries INTEGER NOT NULL DEFAULT 0,
    prompt_tokens     INTEGER NOT NULL DEFAULT 0,
    completion_tokens INTEGER NOT NULL DEFAULT 0,
    cost_usd          DOUBLE PRECISION NOT NULL DEFAULT 0,
    latency_ms        BIGINT NOT NULL DEFAULT 0,
    result_verdict    TEXT NOT NULL DEFAULT '',
    result_label      TEXT NOT NULL DEFAULT '',
    result_source     TEXT NOT NULL DEFAULT '' CHECK (result_source = '' OR result_source = 'judge' OR result_source = 'human' OR result_source = 'adjudication'),
    fence             BIGINT NOT NULL DEFAULT 0,
    lease_holder      TEXT NOT NULL DEFAULT '',
    lease_expires_at  TIMESTAMP,
    created_at        TIMESTAMP NOT NULL,
    started_at        TIMESTAMP,
    finished_at       TIMESTAMP,
    UNIQUE (trace_id, identity)
);
-- SQL can't compute identities: until the program has (store/identities.go),
-- the old row's number stands there.
INSERT INTO settings (name, value) SELECT 'identities_missing', 'yes' WHERE EXISTS (SELECT 1 FROM evaluations);
INSERT INTO new_evaluations SELECT id, project_id, trace_id, judge, prompt_version, engine, model, -rowid, unhex(NULLIF(judgment_body, '')),
    status, score, verdict, label, critical, lead_reason, refused_field, error, attempts, repairs, transport_retries, prompt_tokens,
    completion_tokens, cost_usd, latency_ms, result_verdict, result_label, result_source, fence, lease_holder, lease_expires_at,
    created_at, started_at, finished_at FROM evaluations;
DROP TABLE evaluations;
ALTER TABLE new_evaluations RENAME TO evaluations;
-- Ids sort by time, so lists need no time in their index.
CREATE INDEX evaluations_newest ON evaluations (project_id, id);
CREATE INDEX evaluations_status ON evaluations (project_id, status, id);
CREATE INDEX evaluations_judge ON evaluations (project_id, judge, id);
CREATE INDEX evaluations_reasoned ON evaluations (project_id, id) WHERE lead_reason <> '';
CREATE INDEX evaluations_work ON evaluations (id) WHERE status IN ('queued', 'judging');

CREATE TABLE new_evaluation_reasons (
    evaluation_id TEXT NOT NULL REFERENCES evaluations (id),
    position      INTEGER NOT NULL,
    code          TEXT NOT NULL,
    detail        TEXT NOT NULL,
    PRIMARY KEY (evaluation_id, position)
) WITHOUT ROWID;
INSERT INTO new_evaluation_reasons SELECT evaluation_id, position, code, detail FROM evaluation_reasons;
DROP TABLE evaluation_reasons;
ALTER TABLE new_evaluation_reasons RENAME TO evaluation_reasons;

-- One round of judging each; a retry makes another. Packed JSON: report,
-- findings, checks, calls (store/detail.go).
CREATE TABLE new_evaluation_reports (
    evaluation_id TEXT NOT NULL REFERENCES evaluations (id),
    round         INTEGER NOT NULL,
    current       BOOLEAN NOT NULL,
    codec         INTEGER NOT NULL,
    dictionary    BIGINT NOT NULL DEFAULT 0,
    detail        BYTEA NOT NULL,
    PRIMARY KEY (evaluation_id, round)
) WITHOUT ROWID;
INSERT INTO new_evaluation_reports (evaluation_id, round, current, codec, detail)
SELECT e.id, 1, x.evaluation_id IS NOT NULL, 0, CAST(
    '{"report":' || COALESCE(NULLIF(x.report, ''), 'null') || ',"findings":' || COALESCE(x.findings, '[]') || ',"checks":' || COALESCE(x.checks, '[]')
    || ',"calls":[' || COALESCE((SELECT group_concat('{"number":' || a.number || ',"engine":' || json_quote(a.engine)
        || ',"endpoint":' || json_quote(a.endpoint) || ',"model_asked":' || json_quote(a.model_asked)
        || ',"model_answered":' || json_quote(a.model_answered) || ',"finish_reason":' || json_quote(a.finish_reason)
        || ',"parameters":' || COALESCE(NULLIF(a.parameters, ''), 'null') || ',"report":' || COALESCE(NULLIF(a.report, ''), 'null')
        || ',"errors":' || a.errors || ',"transport_retries":' || a.transport_retries || '}', ',') FROM attempts a WHERE a.evaluation_id = e.id), '') || ']}'
    AS BLOB)
FROM evaluations e LEFT JOIN evaluation_reports x ON x.evaluation_id = e.id
WHERE x.evaluation_id IS NOT NULL OR EXISTS (SELECT 1 FROM attempts a WHERE a.evaluation_id = e.id);
DROP TABLE evaluation_reports;
ALTER TABLE new_evaluation_reports RENAME TO evaluation_reports;

-- One model call each, with what is counted of it.
CREATE TABLE new_attempts (
    evaluation_id     TEXT NOT NULL REFERENCES evaluations (id),
    number            INTEGER NOT NULL,
    prompt_hash       BYTEA, -- texts.hash; null = there was none
    reply_hash        BYTEA,
    prompt_tokens     INTEGER NOT NULL,
    completion_tokens INTEGER NOT NULL,
    cost_usd          DOUBLE PRECISION NOT NULL,
    latency_ms        BIGINT NOT NULL,
    started_at        TIMESTAMP NOT NULL,
    PRIMARY KEY (evaluation_id, number)
) WITHOUT ROWID;
INSERT INTO new_attempts SELECT evaluation_id, number, unhex(NULLIF(prompt_hash, '')), unhex(NULLIF(reply_hash, '')), prompt_tokens,
    completion_tokens, cost_usd, latency_ms, started_at FROM attempts;
DROP TABLE attempts;
ALTER TABLE new_attempts RENAME TO attempts;

CREATE TABLE new_audit_events (
    seq        INTEGER PRIMARY KEY, -- without gaps
    at         TIMESTAMP NOT NULL,
    project    TEXT NOT NULL,
    actor_id   TEXT NOT NULL,
    actor      TEXT NOT NULL,
    action     TEXT NOT NULL,
    subject    TEXT NOT NULL,
    allowed    BOOLEAN NOT NULL,
    data       TEXT NOT NULL,
    prev_hash  BYTEA,
    hash       BYTEA NOT NULL
);
INSERT INTO new_audit_events SELECT seq, at, project, actor_id, actor, action, subject, allowed, data, unhex(NULLIF(prev_hash, '')), unhex(hash)
FROM audit_events;
DROP TABLE audit_events;
ALTER TABLE new_audit_events RENAME TO audit_events;
CREATE INDEX audit_events_subject ON audit_events (subject, seq);

-- The triggers went with their tables.
-- +goose StatementBegin
CREATE TRIGGER attempts_no_update BEFORE UPDATE ON attempts BEGIN SELECT RAISE(ABORT, 'attempts are append-only'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER attempts_no_delete BEFORE DELETE ON attempts BEGIN SELECT RAISE(ABORT, 'attempts are append-only'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER audit_events_no_update BEFORE UPDATE ON audit_events BEGIN SELECT RAISE(ABORT, 'audit events are append-only'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER audit_events_no_delete BEFORE DELETE ON audit_events BEGIN SELECT RAISE(ABORT, 'audit events are append-only'); END;
-- +goose StatementEnd

COMMIT;
PRAGMA foreign_keys = on;
