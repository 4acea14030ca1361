-- +goose Up
-- Draws of labels beyond those that routing drew: who asked, from how many, and what
-- each makes of the weights of labels that were there before
-- (judge/agreement/sampling, SecondDraw). Labels keep the chance they were drawn with.
CREATE TABLE label_draws (
    id             TEXT PRIMARY KEY,
    project_id     TEXT NOT NULL REFERENCES projects (id),
    judge          TEXT NOT NULL,
    number         INTEGER NOT NULL, -- of this judge, from 1
    model          TEXT NOT NULL, -- as calibration names raters
    prompt_version TEXT NOT NULL,
    verdict        TEXT NOT NULL, -- of the judge: accepted evaluations with it were the frame
    token          TEXT NOT NULL, -- of the form: sent twice, it draws once
    frame          BIGINT NOT NULL, -- evaluations that could be drawn
    n              BIGINT NOT NULL, -- that were
    seed           TEXT NOT NULL,
    nonce          TEXT NOT NULL, -- in no event: without it nobody can work out who was drawn
    earlier        DOUBLE PRECISION NOT NULL CHECK (earlier >= 0 AND earlier <= 1),
    ids_sha256     TEXT NOT NULL, -- of nonce and ids
    drawn_by       TEXT NOT NULL, -- users.id, or the name of who has none
    frame_at       TIMESTAMP NOT NULL, -- what was judged until then is in the frame
    UNIQUE (project_id, judge, number),
    UNIQUE (project_id, token)
);
CREATE TABLE drawn_labels (
    draw_id       TEXT NOT NULL REFERENCES label_draws (id),
    evaluation_id TEXT NOT NULL REFERENCES evaluations (id),
    PRIMARY KEY (evaluation_id, draw_id)
);
-- The number of the newest draw that a label's chance has in it already: the one that
-- drew it, or the last one before its evaluation was judged. Later ones change it.
ALTER TABLE agreement_cells ADD COLUMN drawn INTEGER NOT NULL DEFAULT 0;

-- A random part of the labels of a cell that stays the same: ids end at random.
CREATE INDEX evaluations_part ON evaluations (cell, (substr(trace_id, length(trace_id) - 1, 2))) WHERE labelled_us IS NOT NULL;
CREATE TRIGGER label_draws_append_only BEFORE UPDATE OR DELETE ON label_draws FOR EACH ROW EXECUTE FUNCTION append_only();
CREATE TRIGGER drawn_labels_append_only BEFORE UPDATE OR DELETE ON drawn_labels FOR EACH ROW EXECUTE FUNCTION append_only();
