-- +goose Up

-- A team's space. Everything but users, tokens and the audit chain hangs on one.
CREATE TABLE projects (
    id         TEXT PRIMARY KEY,
    name       TEXT NOT NULL UNIQUE,
    policy     TEXT NOT NULL, -- judge.Policy as JSON
    created_at TIMESTAMP NOT NULL
);

CREATE TABLE users (
    id                  TEXT PRIMARY KEY,
    email               TEXT NOT NULL UNIQUE, -- lower case
    name                TEXT NOT NULL,
    role                TEXT NOT NULL CHECK (role IN ('reviewer', 'lead', 'auditor', 'admin')),
    password_hash       TEXT NOT NULL, -- argon2id, encoded with its parameters; empty = cannot sign in by password
    session_epoch       INTEGER NOT NULL DEFAULT 0, -- raised to end every session of the user
    failed_sign_ins     INTEGER NOT NULL DEFAULT 0,
    sign_in_paused_until TIMESTAMP,
    created_at          TIMESTAMP NOT NULL,
    disabled_at         TIMESTAMP
);

CREATE TABLE tokens (
    id           TEXT PRIMARY KEY,
    user_id      TEXT NOT NULL REFERENCES users (id),
    name         TEXT NOT NULL,
    hash         TEXT NOT NULL UNIQUE, -- SHA-256 of the token; the token itself is never stored
    created_at   TIMESTAMP NOT NULL,
    last_used_at TIMESTAMP,
    revoked_at   TIMESTAMP
);

-- Small facts of the installation: session key, nonce key.
CREATE TABLE settings (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
);

-- Large texts, once each, outside the rows that lists read.
CREATE TABLE texts (
    hash  TEXT PRIMARY KEY, -- SHA-256 of the plain text
    codec TEXT NOT NULL DEFAULT '',
    body  BYTEA NOT NULL
);

CREATE TABLE runs (
    id         TEXT PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES projects (id),
    name       TEXT NOT NULL,
    created_at TIMESTAMP NOT NULL,
    UNIQUE (project_id, name)
);

-- A revision of a trace. Other content under the same external id is a new row.
CREATE TABLE traces (
    id             TEXT PRIMARY KEY,
    project_id     TEXT NOT NULL REFERENCES projects (id),
    external_id    TEXT NOT NULL, -- the file's id
    revision       INTEGER NOT NULL,
    current        BOOLEAN NOT NULL, -- the newest revision of its external id
    content_hash   TEXT NOT NULL,
    candidate_hash TEXT NOT NULL,
    reference_hash TEXT NOT NULL,
    domain         TEXT NOT NULL,
    stakes         TEXT NOT NULL CHECK (stakes IN ('high', 'standard')),
    title          TEXT NOT NULL, -- one line for lists
    cluster        TEXT NOT NULL,
    body_hash      TEXT NOT NULL REFERENCES texts (hash), -- the trace as JSON, without labels
    created_at     TIMESTAMP NOT NULL,
    UNIQUE (project_id, external_id, revision)
);
CREATE UNIQUE INDEX traces_current ON traces (project_id, external_id) WHERE current;

CREATE TABLE run_traces (
    run_id   TEXT NOT NULL REFERENCES runs (id),
    trace_id TEXT NOT NULL REFERENCES traces (id),
    PRIMARY KEY (run_id, trace_id)
);
CREATE INDEX run_traces_trace ON run_traces (trace_id);

-- The definition of a judge as it was when the project first used that version.
CREATE TABLE judges (
    id             TEXT PRIMARY KEY,
    project_id     TEXT NOT NULL REFERENCES projects (id),
    name           TEXT NOT NULL,
    prompt_version TEXT NOT NULL,
    builtin        BOOLEAN NOT NULL,
    definition     TEXT NOT NULL, -- YAML as written
    ordinal        BOOLEAN NOT NULL DEFAULT FALSE, -- the order of its labels means something to statistics
    current        BOOLEAN NOT NULL,
    created_at     TIMESTAMP NOT NULL,
    UNIQUE (project_id, name, prompt_version)
);

-- The label set of a judge, for statistics by SQL.
CREATE TABLE judge_labels (
    project_id TEXT NOT NULL REFERENCES projects (id),
    judge      TEXT NOT NULL,
    label      TEXT NOT NULL,
    position   INTEGER NOT NULL,
    verdict    TEXT NOT NULL,
    abstain    BOOLEAN NOT NULL,
    PRIMARY KEY (project_id, judge, label)
);

-- One judge on one trace revision by one engine and model. This table is the
-- work list too: a queued row is taken under a lease, and its result and its
-- state change in one transaction. The checks are spelt out with OR because
-- SQLite builds a table for every longer IN list, at every row written: that
-- was half of the time to insert an evaluation.
CREATE TABLE evaluations (
    id                TEXT PRIMARY KEY,
    project_id        TEXT NOT NULL REFERENCES projects (id),
    trace_id          TEXT NOT NULL REFERENCES traces (id),
    judge             TEXT NOT NULL,
    prompt_version    TEXT NOT NULL,
    engine            TEXT NOT NULL CHECK (engine = 'openai' OR engine = 'rules' OR engine = 'recorded'),
    model             TEXT NOT NULL,
    judgment_hash     TEXT NOT NULL DEFAULT '', -- recorded reports: which one; same model may have several
    judgment_body     TEXT NOT NULL DEFAULT '', -- recorded reports: texts.hash of the judgment as JSON
    status            TEXT NOT NULL CHECK (status = 'queued' OR status = 'judging' OR status = 'refused' OR status = 'accepted' OR status = 'in_review' OR status = 'final'),
    score             DOUBLE PRECISION,
    verdict           TEXT NOT NULL DEFAULT '' CHECK (verdict = '' OR verdict = 'pass' OR verdict = 'borderline' OR verdict = 'fail'),
    label             TEXT NOT NULL DEFAULT '',
    critical          BOOLEAN NOT NULL DEFAULT FALSE,
    lead_reason       TEXT NOT NULL DEFAULT '', -- the most urgent reason
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
    -- work
    fence             BIGINT NOT NULL DEFAULT 0, -- raised at every claim; a late worker's fence is stale
    lease_holder      TEXT NOT NULL DEFAULT '',
    lease_expires_at  TIMESTAMP,
    -- times
    created_at        TIMESTAMP NOT NULL,
    started_at        TIMESTAMP,
    finished_at       TIMESTAMP,
    UNIQUE (trace_id, judge, prompt_version, engine, model, judgment_hash)
);
-- Lists read these backwards, the newest first. Ascending order lets new rows
-- be appended, which costs a fraction of inserting them at the front.
CREATE INDEX evaluations_newest ON evaluations (project_id, created_at, id);
CREATE INDEX evaluations_status ON evaluations (project_id, status, created_at, id);
CREATE INDEX evaluations_judge ON evaluations (project_id, judge, created_at, id);
-- A list by reason passes over what was simply accepted.
CREATE INDEX evaluations_reasoned ON evaluations (project_id, created_at, id) WHERE lead_reason <> '';
CREATE INDEX evaluations_work ON evaluations (created_at, id) WHERE status IN ('queued', 'judging');

CREATE TABLE evaluation_reasons (
    evaluation_id TEXT NOT NULL REFERENCES evaluations (id),
    position      INTEGER NOT NULL,
    code          TEXT NOT NULL,
    detail        TEXT NOT NULL,
    PRIMARY KEY (evaluation_id, position)
);

-- What only the evaluation's own page and the API read.
CREATE TABLE evaluation_reports (
    evaluation_id TEXT PRIMARY KEY REFERENCES evaluations (id),
    report        TEXT NOT NULL, -- JSON or empty
    findings      TEXT NOT NULL, -- JSON array
    checks        TEXT NOT NULL  -- JSON array
);

CREATE TABLE attempts (
    evaluation_id     TEXT NOT NULL REFERENCES evaluations (id),
    number            INTEGER NOT NULL,
    engine            TEXT NOT NULL,
    endpoint          TEXT NOT NULL,
    model_asked       TEXT NOT NULL,
    model_answered    TEXT NOT NULL,
    parameters        TEXT NOT NULL,
    prompt_hash       TEXT NOT NULL, -- texts.hash, empty when there was none
    reply_hash        TEXT NOT NULL,
    finish_reason     TEXT NOT NULL,
    report            TEXT NOT NULL,
    errors            TEXT NOT NULL, -- JSON array of strings
    prompt_tokens     INTEGER NOT NULL,
    completion_tokens INTEGER NOT NULL,
    cost_usd          DOUBLE PRECISION NOT NULL,
    latency_ms        BIGINT NOT NULL,
    transport_retries INTEGER NOT NULL,
    started_at        TIMESTAMP NOT NULL,
    PRIMARY KEY (evaluation_id, number)
);

-- Replies of evaluations under way, until their attempts are stored.
CREATE TABLE kept_replies (
    evaluation TEXT NOT NULL, -- judge.EvaluationID
    call       TEXT NOT NULL, -- hash of conversation and parameters
    reply      TEXT NOT NULL, -- judge.KeptReply as JSON
    kept_at    TIMESTAMP NOT NULL,
    PRIMARY KEY (evaluation, call)
);

-- An evaluation in the queue, with the claim on it. Columns that the list
-- shows are repeated here so that a page of the queue reads one table.
CREATE TABLE reviews (
    id                    TEXT PRIMARY KEY,
    project_id            TEXT NOT NULL REFERENCES projects (id),
    evaluation_id         TEXT NOT NULL UNIQUE REFERENCES evaluations (id),
    trace_id              TEXT NOT NULL REFERENCES traces (id),
    external_id           TEXT NOT NULL,
    judge                 TEXT NOT NULL,
    domain                TEXT NOT NULL,
    stakes                TEXT NOT NULL,
    title                 TEXT NOT NULL,
    state                 TEXT NOT NULL CHECK (state = 'open' OR state = 'claimed' OR state = 'decided' OR state = 'adjudication' OR state = 'closed'),
    urgency               INTEGER NOT NULL, -- 2 * reason rank + (0 high, 1 standard stakes): the queue's first key
    lead_reason           TEXT NOT NULL,
    blind                 BOOLEAN NOT NULL,
    stratum               TEXT NOT NULL,
    inclusion_probability DOUBLE PRECISION NOT NULL CHECK (inclusion_probability > 0 AND inclusion_probability <= 1),
    due_at                TIMESTAMP NOT NULL,
    opened_at             TIMESTAMP NOT NULL,
    -- claim: a lease that runs out
    holder_id             TEXT REFERENCES users (id),
    claimed_at            TIMESTAMP,
    lease_expires_at      TIMESTAMP,
    adjudicating          BOOLEAN NOT NULL DEFAULT FALSE, -- a lead has to settle it, claimed or not
    decided_at            TIMESTAMP
);
-- The queue: what waits, in order. A claimed item stays in it (its claim may
-- have run out); decided and closed ones leave the index. Judge and domain are
-- in it so that a filter is answered without reading the rows it drops.
CREATE INDEX reviews_queue ON reviews (project_id, urgency, due_at, id, judge, domain) WHERE state IN ('open', 'claimed', 'adjudication');
CREATE INDEX reviews_adjudication ON reviews (project_id, urgency, due_at, id) WHERE adjudicating AND state IN ('open', 'claimed', 'adjudication');
CREATE INDEX reviews_due ON reviews (project_id, due_at) WHERE state IN ('open', 'claimed', 'adjudication');
CREATE INDEX reviews_holder ON reviews (holder_id, lease_expires_at) WHERE holder_id IS NOT NULL;
CREATE INDEX reviews_trace ON reviews (trace_id);

-- Who passed an item on; it comes back to them last.
CREATE TABLE review_skips (
    review_id  TEXT NOT NULL REFERENCES reviews (id),
    user_id    TEXT NOT NULL REFERENCES users (id),
    comment    TEXT NOT NULL,
    skipped_at TIMESTAMP NOT NULL,
    PRIMARY KEY (review_id, user_id)
);

-- What a reviewer said before the judge's verdict was shown. Never edited.
CREATE TABLE first_answers (
    review_id   TEXT NOT NULL REFERENCES reviews (id),
    user_id     TEXT NOT NULL REFERENCES users (id),
    verdict     TEXT NOT NULL CHECK (verdict IN ('pass', 'borderline', 'fail')),
    label       TEXT NOT NULL,
    findings    TEXT NOT NULL, -- JSON array
    nonce       TEXT NOT NULL, -- goes into the digest that the audit event holds
    answered_at TIMESTAMP NOT NULL,
    PRIMARY KEY (review_id, user_id)
);

-- Who saw the judge's verdict of a blind item before answering, on purpose.
CREATE TABLE exposures (
    evaluation_id TEXT NOT NULL REFERENCES evaluations (id),
    user_id       TEXT NOT NULL REFERENCES users (id),
    exposed_at    TIMESTAMP NOT NULL,
    PRIMARY KEY (evaluation_id, user_id)
);

-- What people said. Never edited; a later one supersedes.
CREATE TABLE decisions (
    id              TEXT PRIMARY KEY,
    review_id       TEXT NOT NULL REFERENCES reviews (id),
    evaluation_id   TEXT NOT NULL REFERENCES evaluations (id),
    user_id         TEXT NOT NULL REFERENCES users (id),
    action          TEXT NOT NULL CHECK (action IN ('confirm', 'override', 'cannot_judge', 'escalate')),
    choice          TEXT NOT NULL DEFAULT '' CHECK (choice IN ('', 'keep', 'adopt')), -- blind items: what was done after the reveal
    verdict         TEXT NOT NULL CHECK (verdict IN ('', 'pass', 'borderline', 'fail')),
    label           TEXT NOT NULL,
    findings        TEXT NOT NULL, -- JSON array
    reason_code     TEXT NOT NULL,
    comment         TEXT NOT NULL,
    confidence      TEXT NOT NULL CHECK (confidence IN ('', 'low', 'medium', 'high')),
    blind           BOOLEAN NOT NULL,
    verdict_visible BOOLEAN NOT NULL, -- before the first answer
    first_verdict   TEXT NOT NULL,
    first_label     TEXT NOT NULL,
    adjudication    BOOLEAN NOT NULL,
    seconds         DOUBLE PRECISION NOT NULL, -- from claim to decision, by the server's clock
    supersedes      TEXT REFERENCES decisions (id),
    decided_at      TIMESTAMP NOT NULL
);
CREATE INDEX decisions_review ON decisions (review_id, decided_at);
CREATE INDEX decisions_evaluation ON decisions (evaluation_id, decided_at);
CREATE INDEX decisions_user ON decisions (user_id, decided_at);

-- Every human label, imported or decided, with the design it was drawn by.
CREATE TABLE labels (
    id                    TEXT PRIMARY KEY,
    project_id            TEXT NOT NULL REFERENCES projects (id),
    trace_id              TEXT NOT NULL REFERENCES traces (id),
    judge                 TEXT NOT NULL,
    source                TEXT NOT NULL CHECK (source IN ('imported', 'decision')),
    content_hash          TEXT NOT NULL, -- imported: makes a second import a no-op; decision: the decision's id
    reviewer              TEXT NOT NULL, -- imported: the file's word; decision: the user's id
    decision_id           TEXT REFERENCES decisions (id),
    evaluation_id         TEXT REFERENCES evaluations (id),
    prompt_version        TEXT NOT NULL, -- of the evaluation decided on; empty for imported ones
    -- first and final answer: they differ only when a blind answer was revised
    first_verdict         TEXT NOT NULL,
    first_label           TEXT NOT NULL,
    verdict               TEXT NOT NULL,
    label                 TEXT NOT NULL,
    abstained             BOOLEAN NOT NULL,
    findings              TEXT NOT NULL, -- JSON array
    comment               TEXT NOT NULL,
    adjudicated           BOOLEAN NOT NULL,
    verdict_visible       BOOLEAN NOT NULL,
    stratum               TEXT NOT NULL,
    inclusion_probability DOUBLE PRECISION, -- null = the file did not say
    cluster               TEXT NOT NULL,
    labelled_at           TIMESTAMP NOT NULL,
    UNIQUE (trace_id, judge, source, reviewer, content_hash)
);
CREATE INDEX labels_pairs ON labels (project_id, judge, trace_id, reviewer);

-- The human side of agreement for one trace and judge, kept as labels arrive:
-- the adjudicated label where there is one, else the newest decision, else the
-- majority of the imported labels (a tie leaves verdict and label empty). Of a
-- blind label it is the first answer, the one given before the reveal.
CREATE TABLE consensus (
    project_id            TEXT NOT NULL REFERENCES projects (id),
    judge                 TEXT NOT NULL,
    trace_id              TEXT NOT NULL REFERENCES traces (id),
    basis                 TEXT NOT NULL CHECK (basis IN ('adjudicated', 'decision', 'imported')),
    verdict               TEXT NOT NULL,
    label                 TEXT NOT NULL,
    abstained             BOOLEAN NOT NULL,
    tied                  BOOLEAN NOT NULL,
    visible               BOOLEAN NOT NULL,
    stratum               TEXT NOT NULL,
    inclusion_probability DOUBLE PRECISION, -- null = not known
    cluster               TEXT NOT NULL,
    labelled_at           TIMESTAMP NOT NULL, -- of the newest label it rests on
    labels                INTEGER NOT NULL, -- how many there are
    PRIMARY KEY (project_id, judge, trace_id)
);

-- Counts that pages show, kept with every change instead of counted per page.
CREATE TABLE tallies (
    project_id TEXT NOT NULL REFERENCES projects (id),
    kind       TEXT NOT NULL,
    name       TEXT NOT NULL,
    n          BIGINT NOT NULL,
    PRIMARY KEY (project_id, kind, name)
);

-- The audit chain. seq has no gaps; hash covers the event and the hash before.
CREATE TABLE audit_events (
    seq        BIGINT PRIMARY KEY,
    at         TIMESTAMP NOT NULL,
    project    TEXT NOT NULL, -- project name, empty for users and tokens
    actor_id   TEXT NOT NULL,
    actor      TEXT NOT NULL, -- name at that time
    action     TEXT NOT NULL, -- e.g. trace.imported, review.claimed, decision.made
    subject    TEXT NOT NULL, -- e.g. evaluation:ID
    allowed    BOOLEAN NOT NULL, -- false: a denied attempt
    data       TEXT NOT NULL, -- canonical JSON
    prev_hash  TEXT NOT NULL,
    hash       TEXT NOT NULL
);
CREATE INDEX audit_events_subject ON audit_events (subject, seq);

-- The last event, so that cutting off the end of the chain is found too.
CREATE TABLE audit_head (
    id   INTEGER PRIMARY KEY CHECK (id = 1),
    seq  BIGINT NOT NULL,
    hash TEXT NOT NULL
);
INSERT INTO audit_head (id, seq, hash) VALUES (1, 0, '');

-- Answers to requests that carried an Idempotency-Key.
CREATE TABLE idempotent_answers (
    user_id    TEXT NOT NULL REFERENCES users (id),
    key        TEXT NOT NULL,
    request    TEXT NOT NULL, -- SHA-256 of method, path and body
    status     INTEGER NOT NULL,
    body       TEXT NOT NULL,
    created_at TIMESTAMP NOT NULL,
    PRIMARY KEY (user_id, key)
);
