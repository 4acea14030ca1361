-- +goose Up
-- The questions that a person waits for, and what was said in their threads.
CREATE INDEX comments_asked ON comments (user_id) WHERE parent_id IS NULL AND resolved_at IS NULL AND withdrawn_at IS NULL;
CREATE INDEX comments_thread ON comments (parent_id) WHERE parent_id IS NOT NULL;
