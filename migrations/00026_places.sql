-- +goose Up
-- Indexes for what read a whole table. First the
-- questions that a person waits for, and what was said in their threads.
CREATE INDEX comments_asked ON comments (user_id) WHERE parent_id IS NULL AND resolved_at IS NULL AND withdrawn_at IS NULL;
CREATE INDEX comments_thread ON comments (parent_id) WHERE parent_id IS NOT NULL;
-- What is on hold for a run that has no money left: few, and asked for by every page of a run.
CREATE INDEX evaluations_on_hold ON evaluations (run_id) WHERE on_hold;
