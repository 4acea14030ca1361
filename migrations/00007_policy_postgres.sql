-- +goose Up
-- Every policy that a project has had, so that a draw or a routing can be
-- explained by the policy it was made under. The present one is also in
-- projects.policy. Its version stands inside the JSON, which no portable SQL
-- reads: the program adds the policies that are there already (store/policy_history.go).
CREATE TABLE policies (
    project_id TEXT NOT NULL REFERENCES projects (id),
    version    INTEGER NOT NULL,
    policy     TEXT NOT NULL, -- judge.Policy as JSON
    author     TEXT NOT NULL, -- as the audit log names them; empty: from before this was kept
    comment    TEXT NOT NULL,
    created_at TIMESTAMP NOT NULL,
    PRIMARY KEY (project_id, version)
);
CREATE TRIGGER policies_append_only BEFORE UPDATE OR DELETE ON policies FOR EACH ROW EXECUTE FUNCTION append_only();
-- The version that routed and drew an evaluation, and the one that made its
-- item blind or not; 0: from before this was kept.
ALTER TABLE evaluations ADD COLUMN policy_version INTEGER NOT NULL DEFAULT 0;
ALTER TABLE reviews ADD COLUMN policy_version INTEGER NOT NULL DEFAULT 0;
