-- +goose Up
-- How a judge did, by day: kept by the transaction that stores its results.
-- Older databases are filled by the program (store/health_fill.go): what a
-- round of judging gave stands in packed details.
CREATE TABLE judge_days (
    project_id     TEXT NOT NULL REFERENCES projects (id),
    judge          TEXT NOT NULL,
    day            TEXT NOT NULL, -- 2006-01-02, UTC
    prompt_version TEXT NOT NULL,
    engine         TEXT NOT NULL, -- that answered
    model          TEXT NOT NULL,
    measure        TEXT NOT NULL, -- see store/health.go
    n              BIGINT NOT NULL,
    PRIMARY KEY (project_id, judge, day, prompt_version, engine, model, measure)
);
INSERT INTO settings (name, value) SELECT 'judge_health', 'done' WHERE NOT EXISTS (SELECT 1 FROM evaluation_reports);

-- How many evaluations a judge's versions have, so that nothing counts them.
INSERT INTO tallies (project_id, kind, name, n)
SELECT project_id, 'use', judge || ' ' || prompt_version, count(*) FROM evaluations GROUP BY project_id, judge, prompt_version;
