-- +goose Up
-- Which judges are trusted, and who released a run on what evidence.

-- What the rules of trust came to for a judge, model and prompt version, or that a
-- lead suspended it. Every change of the state is an audit event.
CREATE TABLE judge_trust (
    project_id     TEXT NOT NULL REFERENCES projects (id),
    judge          TEXT NOT NULL,
    model          TEXT NOT NULL,
    prompt_version TEXT NOT NULL,
    state          TEXT NOT NULL CHECK (state = 'trusted' OR state = 'advisory' OR state = 'suspended'),
    by_rules       TEXT NOT NULL CHECK (by_rules = 'trusted' OR by_rules = 'advisory'), -- what it is when nobody suspends it
    since          TIMESTAMP NOT NULL, -- of the state
    rules          TEXT NOT NULL,      -- the checklist: JSON
    policy_version INTEGER NOT NULL,
    reason         TEXT NOT NULL,      -- of who suspended or resumed it last
    actor          TEXT NOT NULL,      -- who made the state what it is; empty: the rules
    PRIMARY KEY (project_id, judge, model, prompt_version)
);

-- What may have changed since trust was looked at: due while changed > checked.
CREATE TABLE trust_checks (
    project_id TEXT NOT NULL REFERENCES projects (id),
    judge      TEXT NOT NULL,
    changed    BIGINT NOT NULL,
    checked    BIGINT NOT NULL,
    checked_at TIMESTAMP NOT NULL,
    PRIMARY KEY (project_id, judge)
);
INSERT INTO trust_checks (project_id, judge, changed, checked, checked_at)
SELECT project_id, name, 1, 0, min(created_at) FROM judges GROUP BY project_id, name;

-- Who released a run. Never edited.
CREATE TABLE run_releases (
    id              TEXT PRIMARY KEY,
    run_id          TEXT NOT NULL REFERENCES runs (id),
    user_id         TEXT NOT NULL REFERENCES users (id),
    name            TEXT NOT NULL, -- as it was then
    role            TEXT NOT NULL,
    qualification   TEXT NOT NULL,
    affirmation     TEXT NOT NULL, -- the wording of what signing affirms
    wording         INTEGER NOT NULL,
    comment         TEXT NOT NULL,
    although        TEXT NOT NULL, -- why it was released although something spoke against it
    evidence        TEXT NOT NULL, -- JSON
    evidence_sha256 TEXT NOT NULL,
    released_at     TIMESTAMP NOT NULL
);
CREATE INDEX run_releases_run ON run_releases (run_id, id);

-- Releases that were withdrawn. Never edited.
CREATE TABLE run_release_withdrawals (
    release_id   TEXT PRIMARY KEY REFERENCES run_releases (id),
    user_id      TEXT NOT NULL REFERENCES users (id),
    name         TEXT NOT NULL,
    reason       TEXT NOT NULL,
    withdrawn_at TIMESTAMP NOT NULL
);

-- +goose StatementBegin
CREATE TRIGGER run_releases_no_update BEFORE UPDATE ON run_releases BEGIN SELECT RAISE(ABORT, 'releases of runs are append-only'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER run_releases_no_delete BEFORE DELETE ON run_releases BEGIN SELECT RAISE(ABORT, 'releases of runs are append-only'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER run_release_withdrawals_no_update BEFORE UPDATE ON run_release_withdrawals BEGIN SELECT RAISE(ABORT, 'withdrawals of releases are append-only'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER run_release_withdrawals_no_delete BEFORE DELETE ON run_release_withdrawals BEGIN SELECT RAISE(ABORT, 'withdrawals of releases are append-only'); END;
-- +goose StatementEnd
