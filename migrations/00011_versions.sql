-- +goose Up
-- The label set of each version of a judge, so that what an older version judged
-- is decided on the scale it was judged on. Of versions that are not current
-- only their definition is known: the program reads their labels from it
-- (store/judge_versions.go); those of older built-in ones are lost.
CREATE TABLE judge_version_labels (
    project_id     TEXT NOT NULL REFERENCES projects (id),
    judge          TEXT NOT NULL,
    prompt_version TEXT NOT NULL,
    label          TEXT NOT NULL,
    position       INTEGER NOT NULL,
    verdict        TEXT NOT NULL,
    abstain        BOOLEAN NOT NULL,
    PRIMARY KEY (project_id, judge, prompt_version, label)
);
INSERT INTO judge_version_labels (project_id, judge, prompt_version, label, position, verdict, abstain)
SELECT l.project_id, l.judge, j.prompt_version, l.label, l.position, l.verdict, l.abstain
FROM judge_labels l JOIN judges j ON j.project_id = l.project_id AND j.name = l.judge AND j.current;
DROP TABLE judge_labels;
ALTER TABLE judge_version_labels RENAME TO judge_labels;

-- All of a version that can be shown, as JSON: prompt, schema, rubric, checks.
-- Empty: stored before this was kept.
ALTER TABLE judges ADD COLUMN snapshot TEXT NOT NULL DEFAULT '';
INSERT INTO settings (name, value) SELECT 'version_labels_missing', 'yes' WHERE EXISTS (SELECT 1 FROM judges WHERE NOT current AND NOT builtin);
