-- +goose Up
-- Counts that calibration, runs and lists read instead of counting a million
-- rows: changed in the transaction that changes what they count. Each row says
-- what it is counted as now, so that taking it out again is exact.

-- How an evaluation stands in its runs: pending, refused, in_review, failed (in
-- review because its judge failed), result:VERDICT, or other.
ALTER TABLE evaluations ADD COLUMN standing TEXT NOT NULL DEFAULT 'pending';
-- It waits in an open blind review.
ALTER TABLE evaluations ADD COLUMN sealed BOOLEAN NOT NULL DEFAULT FALSE;
-- agreement_cells.id; 0 = it has no verdict.
ALTER TABLE evaluations ADD COLUMN cell BIGINT NOT NULL DEFAULT 0;
-- agreement_clusters.id; 0 = it counts in no cluster of several traces.
ALTER TABLE evaluations ADD COLUMN cluster_key BIGINT NOT NULL DEFAULT 0;
-- When people labelled what it is compared with, in microseconds since 1970
-- UTC; null = it has no verdict, or nobody labelled.
ALTER TABLE evaluations ADD COLUMN labelled_us BIGINT;
-- The first and last label of a cell.
CREATE INDEX evaluations_cell ON evaluations (cell, labelled_us) WHERE labelled_us IS NOT NULL;

-- Whether the pairs of people on this trace are counted as waiting: an
-- evaluation of the trace waits blind, or for its judge.
ALTER TABLE consensus ADD COLUMN pairs_waiting BOOLEAN NOT NULL DEFAULT FALSE;
CREATE INDEX consensus_several ON consensus (trace_id) WHERE labels > 1;

-- Evaluations with a verdict that are the same in all that calibration looks at.
CREATE TABLE agreement_cells (
    id                    BIGINT PRIMARY KEY, -- 63 bits of SHA-256 over the columns up to alone
    project_id            TEXT NOT NULL REFERENCES projects (id),
    judge                 TEXT NOT NULL,
    model                 TEXT NOT NULL,
    prompt_version        TEXT NOT NULL,
    judge_label           TEXT NOT NULL,
    judge_verdict         TEXT NOT NULL,
    human_label           TEXT NOT NULL,
    human_verdict         TEXT NOT NULL,
    flags                 INTEGER NOT NULL, -- -1 = no label; else 1 abstained, 2 visible, 4 adjudicated
    stratum               TEXT NOT NULL,
    inclusion_probability DOUBLE PRECISION, -- null = not known
    waiting               BOOLEAN NOT NULL, -- evaluations.sealed
    alone                 BOOLEAN NOT NULL, -- each is a cluster of its own
    n                     BIGINT NOT NULL
);
CREATE INDEX agreement_cells_judge ON agreement_cells (project_id, judge);

-- Evaluations by the cluster of their trace, those of one model and prompt
-- version together.
CREATE TABLE agreement_clusters (
    id      BIGINT PRIMARY KEY, -- 63 bits of SHA-256 over project, judge, model, prompt version, cluster
    free    BIGINT NOT NULL, -- evaluations that do not wait blind
    waiting BIGINT NOT NULL  -- those that do
);

-- How many rows of agreement_clusters count something.
CREATE TABLE agreement_cluster_counts (
    project_id     TEXT NOT NULL REFERENCES projects (id),
    judge          TEXT NOT NULL,
    model          TEXT NOT NULL,
    prompt_version TEXT NOT NULL,
    clusters       BIGINT NOT NULL, -- with any evaluation
    free_clusters  BIGINT NOT NULL, -- with one that does not wait blind
    PRIMARY KEY (project_id, judge, model, prompt_version)
);

-- Traces about which two people gave the same two answers.
CREATE TABLE agreement_pairs (
    id         BIGINT PRIMARY KEY, -- 63 bits of SHA-256 over the columns up to waiting
    project_id TEXT NOT NULL REFERENCES projects (id),
    judge      TEXT NOT NULL,
    a          TEXT NOT NULL, -- labels.reviewer; a < b
    b          TEXT NOT NULL,
    a_label    TEXT NOT NULL,
    a_verdict  TEXT NOT NULL,
    b_label    TEXT NOT NULL,
    b_verdict  TEXT NOT NULL,
    visible    BOOLEAN NOT NULL, -- one of them had seen the judge's verdict
    waiting    BOOLEAN NOT NULL, -- consensus.pairs_waiting
    n          BIGINT NOT NULL
);
CREATE INDEX agreement_pairs_judge ON agreement_pairs (project_id, judge);

-- The evaluations of a run by judge and standing. Judge '' counts its traces.
CREATE TABLE run_counts (
    run_id   TEXT NOT NULL REFERENCES runs (id),
    judge    TEXT NOT NULL,
    standing TEXT NOT NULL,
    n        BIGINT NOT NULL,
    PRIMARY KEY (run_id, judge, standing)
);

-- What a person answered or had shown, to find what is not sealed for them.
CREATE INDEX first_answers_user ON first_answers (user_id, review_id);
CREATE INDEX exposures_user ON exposures (user_id, evaluation_id);

-- Lists by verdict and by a reason that tells it pass over what waits blind.
CREATE INDEX evaluations_verdict_free ON evaluations (project_id, verdict, id) WHERE verdict <> '' AND NOT sealed;
CREATE INDEX evaluations_reasoned_free ON evaluations (project_id, id) WHERE lead_reason <> '' AND NOT sealed;
-- Who has a rare reason.
CREATE INDEX evaluation_reasons_code ON evaluation_reasons (code, evaluation_id);

-- A database with traces is counted by the program, in batches; see the store.
INSERT INTO settings (name, value) SELECT 'kept_counts', 'done' WHERE NOT EXISTS (SELECT 1 FROM traces);
