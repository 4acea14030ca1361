-- +goose Up
-- Runs count what they cover so that it adds up, and why their evaluations were
-- sent to people.

-- The reasons of an evaluation as bits, in the order of store/run_reasons.go,
-- and those that its runs count it for.
ALTER TABLE evaluations ADD COLUMN reasons INTEGER NOT NULL DEFAULT 0;
ALTER TABLE evaluations ADD COLUMN reasons_counted INTEGER NOT NULL DEFAULT 0;

-- The evaluations of a run that have a reason; sealed apart from the others.
CREATE TABLE run_reasons (
    run_id TEXT NOT NULL REFERENCES runs (id),
    judge  TEXT NOT NULL,
    code   TEXT NOT NULL,
    sealed BOOLEAN NOT NULL, -- evaluations.sealed
    n      BIGINT NOT NULL,
    PRIMARY KEY (run_id, judge, code, sealed)
);

UPDATE evaluations SET reasons = COALESCE((SELECT sum(CASE d.code
        WHEN 'critical_error' THEN 1 WHEN 'judge_failed' THEN 2 WHEN 'invalid_output' THEN 4 WHEN 'misattribution' THEN 8
        WHEN 'substantive_difference' THEN 16 WHEN 'incomplete_report' THEN 32 WHEN 'inconsistent_output' THEN 64
        WHEN 'below_threshold' THEN 128 WHEN 'ambiguous_score' THEN 256 WHEN 'uncited_claims' THEN 512
        WHEN 'judge_disagreement' THEN 1024 WHEN 'untrusted_judge' THEN 2048 WHEN 'requested' THEN 4096
        WHEN 'boundary_audit' THEN 8192 WHEN 'random_audit' THEN 16384 ELSE 0 END)
    FROM (SELECT DISTINCT x.code FROM evaluation_reasons x WHERE x.evaluation_id = evaluations.id) d), 0)
WHERE lead_reason <> '';

-- What the program has counted already, up to the trace that its setting names
-- ('done' sorts after every id), is filled here; the rest it counts itself.
UPDATE evaluations SET reasons_counted = reasons
WHERE reasons <> 0 AND trace_id <= (SELECT value FROM settings WHERE name = 'kept_counts');
INSERT INTO run_reasons (run_id, judge, code, sealed, n)
SELECT rt.run_id, e.judge, x.code, e.sealed, count(DISTINCT e.id)
FROM run_traces rt JOIN evaluations e ON e.trace_id = rt.trace_id JOIN evaluation_reasons x ON x.evaluation_id = e.id
WHERE e.reasons_counted <> 0
GROUP BY rt.run_id, e.judge, x.code, e.sealed;
-- Of judge '': the traces of a run that have any evaluation.
INSERT INTO run_counts (run_id, judge, standing, n)
SELECT rt.run_id, '', 'planned', count(*) FROM run_traces rt
WHERE EXISTS (SELECT 1 FROM evaluations e WHERE e.trace_id = rt.trace_id)
  AND rt.trace_id <= (SELECT value FROM settings WHERE name = 'kept_counts')
GROUP BY rt.run_id;
