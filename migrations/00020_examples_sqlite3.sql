-- +goose Up
-- A draw of worked examples from what people confirmed, made when a policy that
-- asks for it was saved. It counts until a later version draws again or asks for none.
-- A draw without examples says that there were too few.
CREATE TABLE example_draws (
    project_id     TEXT NOT NULL REFERENCES projects (id),
    judge          TEXT NOT NULL,
    policy_version INTEGER NOT NULL,
    settled        BIGINT NOT NULL, -- evaluations that people had settled and that nobody reviewed
    usable         BIGINT NOT NULL, -- of those looked at, the ones that can be an example
    PRIMARY KEY (project_id, judge, policy_version)
);
CREATE TABLE drawn_examples (
    project_id     TEXT NOT NULL,
    judge          TEXT NOT NULL,
    policy_version INTEGER NOT NULL,
    position       INTEGER NOT NULL, -- from 1
    evaluation_id  TEXT NOT NULL REFERENCES evaluations (id),
    trace_id       TEXT NOT NULL, -- the file's id
    cluster        TEXT NOT NULL,
    text           TEXT NOT NULL, -- judge.Example as JSON
    PRIMARY KEY (project_id, judge, policy_version, position),
    FOREIGN KEY (project_id, judge, policy_version) REFERENCES example_draws (project_id, judge, policy_version)
);
-- +goose StatementBegin
CREATE TRIGGER example_draws_no_update BEFORE UPDATE ON example_draws BEGIN SELECT RAISE(ABORT, 'example draws are append-only'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER example_draws_no_delete BEFORE DELETE ON example_draws BEGIN SELECT RAISE(ABORT, 'example draws are append-only'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER drawn_examples_no_update BEFORE UPDATE ON drawn_examples BEGIN SELECT RAISE(ABORT, 'drawn examples are append-only'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER drawn_examples_no_delete BEFORE DELETE ON drawn_examples BEGIN SELECT RAISE(ABORT, 'drawn examples are append-only'); END;
-- +goose StatementEnd
