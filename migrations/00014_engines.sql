-- +goose Up
-- A worker takes work of the engines that it has and that are up: each from its
-- own place in the list, without passing over what waits for another.
DROP INDEX evaluations_ready;
CREATE INDEX evaluations_engine ON evaluations (engine, endpoint, lane, id) WHERE status IN ('queued', 'judging') AND NOT on_hold;
