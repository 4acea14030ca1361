-- +goose Up
-- Versions of a judge beside each other: shadow runs, the locked test split with its
-- looks, and which version a lead made the one in use.

-- The evaluation beside which this one was made to be compared with; empty: it counts.
ALTER TABLE evaluations ADD COLUMN shadow_of TEXT NOT NULL DEFAULT '';
CREATE INDEX evaluations_shadow ON evaluations (project_id, judge, id) WHERE shadow_of <> '';

-- A version that judges new traces beside the one in use. One a judge at a time.
CREATE TABLE shadow_runs (
    id             TEXT PRIMARY KEY,
    project_id     TEXT NOT NULL REFERENCES projects (id),
    judge          TEXT NOT NULL,
    prompt_version TEXT NOT NULL,
    engine         TEXT NOT NULL,
    model          TEXT NOT NULL,
    endpoint       TEXT NOT NULL,
    samples        INTEGER NOT NULL,
    share          DOUBLE PRECISION NOT NULL CHECK (share > 0 AND share <= 1), -- the chance of each trace
    reason         TEXT NOT NULL,
    state          TEXT NOT NULL CHECK (state = 'running' OR state = 'stopped'),
    started_by     TEXT NOT NULL,
    started_at     TIMESTAMP NOT NULL,
    stopped_by     TEXT NOT NULL DEFAULT '',
    stopped_at     TIMESTAMP,
    stop_reason    TEXT NOT NULL DEFAULT ''
);
CREATE INDEX shadow_runs_judge ON shadow_runs (project_id, judge, id);
CREATE UNIQUE INDEX shadow_runs_running ON shadow_runs (project_id, judge) WHERE state = 'running';

-- Which labelled traces are kept from whoever chooses between versions. Never edited.
CREATE TABLE judge_splits (
    project_id TEXT NOT NULL REFERENCES projects (id),
    judge      TEXT NOT NULL,
    share      DOUBLE PRECISION NOT NULL CHECK (share > 0 AND share < 1), -- of the clusters, in the test split
    seed       TEXT NOT NULL, -- goes into the hash that decides
    comment    TEXT NOT NULL,
    locked_by  TEXT NOT NULL,
    locked_at  TIMESTAMP NOT NULL,
    PRIMARY KEY (project_id, judge)
);

-- Each time that somebody looked at the test split. Never edited.
CREATE TABLE judge_test_looks (
    project_id TEXT NOT NULL REFERENCES projects (id),
    judge      TEXT NOT NULL,
    number     INTEGER NOT NULL, -- from 1
    competitors TEXT NOT NULL,   -- JSON array of version and model
    figures    TEXT NOT NULL,    -- calibration.Versus as JSON, as it was shown
    looked_by  TEXT NOT NULL,
    looked_at  TIMESTAMP NOT NULL,
    PRIMARY KEY (project_id, judge, number)
);

-- Which version a lead made the one in use, and on what evidence. Never edited.
CREATE TABLE judge_promotions (
    id             TEXT PRIMARY KEY,
    project_id     TEXT NOT NULL REFERENCES projects (id),
    judge          TEXT NOT NULL,
    from_version   TEXT NOT NULL,
    prompt_version TEXT NOT NULL,
    comment        TEXT NOT NULL,
    evidence       TEXT NOT NULL, -- the comparison as JSON; empty: there was none
    promoted_by    TEXT NOT NULL,
    promoted_at    TIMESTAMP NOT NULL
);
CREATE INDEX judge_promotions_judge ON judge_promotions (project_id, judge, id);
CREATE TRIGGER judge_splits_append_only BEFORE UPDATE OR DELETE ON judge_splits FOR EACH ROW EXECUTE FUNCTION append_only();
CREATE TRIGGER judge_test_looks_append_only BEFORE UPDATE OR DELETE ON judge_test_looks FOR EACH ROW EXECUTE FUNCTION append_only();
CREATE TRIGGER judge_promotions_append_only BEFORE UPDATE OR DELETE ON judge_promotions FOR EACH ROW EXECUTE FUNCTION append_only();
