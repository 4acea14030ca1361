-- +goose Up
-- Decisions, first answers, labels, attempts and audit events are never
-- edited, whoever is connected.

-- +goose StatementBegin
CREATE FUNCTION append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% are append-only', replace(TG_TABLE_NAME, '_', ' ');
END;
$$;
-- +goose StatementEnd

CREATE TRIGGER decisions_append_only BEFORE UPDATE OR DELETE ON decisions FOR EACH ROW EXECUTE FUNCTION append_only();
CREATE TRIGGER first_answers_append_only BEFORE UPDATE OR DELETE ON first_answers FOR EACH ROW EXECUTE FUNCTION append_only();
CREATE TRIGGER labels_append_only BEFORE UPDATE OR DELETE ON labels FOR EACH ROW EXECUTE FUNCTION append_only();
CREATE TRIGGER attempts_append_only BEFORE UPDATE OR DELETE ON attempts FOR EACH ROW EXECUTE FUNCTION append_only();
CREATE TRIGGER audit_events_append_only BEFORE UPDATE OR DELETE ON audit_events FOR EACH ROW EXECUTE FUNCTION append_only();
