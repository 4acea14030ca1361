-- +goose Up
-- The labels of a cell by domain, stakes, reason, week and score, for calibration
-- by slice and over time. Kept as the cells are.

-- As what slices count it: 0 not at all (it has no label, or a visible one), 1 to 10
-- the tenth of its score, 11 without a score.
ALTER TABLE evaluations ADD COLUMN sliced INTEGER NOT NULL DEFAULT 0;

CREATE TABLE agreement_slices (
    cell      BIGINT NOT NULL, -- agreement_cells.id
    dimension TEXT NOT NULL,   -- domain, stakes, reason, week, band
    value     TEXT NOT NULL,   -- week: weeks since Monday, 29 December 1969; band: 0 to 9
    n         BIGINT NOT NULL,
    PRIMARY KEY (cell, dimension, value)
);

-- What the program has not counted yet has no cell; it counts that itself.
UPDATE evaluations SET sliced = CASE WHEN score IS NULL THEN 11
    WHEN score < 0.1 THEN 1 WHEN score < 0.2 THEN 2 WHEN score < 0.3 THEN 3 WHEN score < 0.4 THEN 4 WHEN score < 0.5 THEN 5
    WHEN score < 0.6 THEN 6 WHEN score < 0.7 THEN 7 WHEN score < 0.8 THEN 8 WHEN score < 0.9 THEN 9 ELSE 10 END
WHERE labelled_us IS NOT NULL AND cell IN (SELECT id FROM agreement_cells WHERE flags IN (0, 1, 4, 5));

INSERT INTO agreement_slices (cell, dimension, value, n)
SELECT e.cell, 'domain', t.domain, count(*) FROM evaluations e JOIN traces t ON t.id = e.trace_id WHERE e.sliced > 0 GROUP BY e.cell, t.domain;
INSERT INTO agreement_slices (cell, dimension, value, n)
SELECT e.cell, 'stakes', t.stakes, count(*) FROM evaluations e JOIN traces t ON t.id = e.trace_id WHERE e.sliced > 0 GROUP BY e.cell, t.stakes;
INSERT INTO agreement_slices (cell, dimension, value, n)
SELECT e.cell, 'reason', x.code, count(DISTINCT e.id) FROM evaluations e JOIN evaluation_reasons x ON x.evaluation_id = e.id WHERE e.sliced > 0 GROUP BY e.cell, x.code;
INSERT INTO agreement_slices (cell, dimension, value, n)
SELECT e.cell, 'week', CAST((e.labelled_us + 259200000000) / 604800000000 AS TEXT), count(*) FROM evaluations e WHERE e.sliced > 0
GROUP BY e.cell, CAST((e.labelled_us + 259200000000) / 604800000000 AS TEXT);
INSERT INTO agreement_slices (cell, dimension, value, n)
SELECT e.cell, 'band', CAST(e.sliced - 1 AS TEXT), count(*) FROM evaluations e WHERE e.sliced BETWEEN 1 AND 10 GROUP BY e.cell, CAST(e.sliced - 1 AS TEXT);
