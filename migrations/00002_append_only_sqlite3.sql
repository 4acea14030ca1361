-- +goose Up
-- Decisions, first answers, labels, attempts and audit events are never
-- edited, whoever holds the file open.

-- +goose StatementBegin
CREATE TRIGGER decisions_no_update BEFORE UPDATE ON decisions BEGIN SELECT RAISE(ABORT, 'decisions are append-only'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER decisions_no_delete BEFORE DELETE ON decisions BEGIN SELECT RAISE(ABORT, 'decisions are append-only'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER first_answers_no_update BEFORE UPDATE ON first_answers BEGIN SELECT RAISE(ABORT, 'first answers are append-only'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER first_answers_no_delete BEFORE DELETE ON first_answers BEGIN SELECT RAISE(ABORT, 'first answers are append-only'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER labels_no_update BEFORE UPDATE ON labels BEGIN SELECT RAISE(ABORT, 'labels are append-only'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER labels_no_delete BEFORE DELETE ON labels BEGIN SELECT RAISE(ABORT, 'labels are append-only'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER attempts_no_update BEFORE UPDATE ON attempts BEGIN SELECT RAISE(ABORT, 'attempts are append-only'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER attempts_no_delete BEFORE DELETE ON attempts BEGIN SELECT RAISE(ABORT, 'attempts are append-only'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER audit_events_no_update BEFORE UPDATE ON audit_events BEGIN SELECT RAISE(ABORT, 'audit events are append-only'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER audit_events_no_delete BEFORE DELETE ON audit_events BEGIN SELECT RAISE(ABORT, 'audit events are append-only'); END;
-- +goose StatementEnd
