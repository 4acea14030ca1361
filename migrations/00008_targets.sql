-- +goose Up
-- Several models, endpoints and samples for one judge on one trace.
ALTER TABLE evaluations ADD COLUMN endpoint TEXT NOT NULL DEFAULT '';        -- its name in the configuration; empty: the default one
ALTER TABLE evaluations ADD COLUMN samples INTEGER NOT NULL DEFAULT 1;       -- calls that vote on one verdict
ALTER TABLE evaluations ADD COLUMN undecided BOOLEAN NOT NULL DEFAULT FALSE; -- its engine could not decide: it differs from nobody
ALTER TABLE evaluations ADD COLUMN uncited INTEGER;                          -- steps that claim something and cite nothing; null: not counted
ALTER TABLE evaluations ADD COLUMN answered_engine TEXT NOT NULL DEFAULT ''; -- 'rules' where identical texts needed no model; else empty
