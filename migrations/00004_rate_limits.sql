-- +goose Up

-- What all processes together may still send to a model endpoint. Times are
-- microseconds since 1970 by the server's clock; 0 is long ago.
CREATE TABLE rate_limits (
    endpoint     TEXT PRIMARY KEY,           -- SHA-256 of the endpoint's address
    requests_due BIGINT NOT NULL DEFAULT 0,  -- until when the granted requests use the limit up (theoretical arrival time)
    tokens_due   BIGINT NOT NULL DEFAULT 0,  -- the same of tokens
    paused_until BIGINT NOT NULL DEFAULT 0   -- nobody calls before: the endpoint asked to wait
);
