-- +goose Up
-- What a reviewer may take, in order: items that wait for a lead stand first in
-- the queue, and a claim would walk past all of them.
CREATE INDEX reviews_free ON reviews (project_id, urgency, due_at, id, judge, domain) WHERE state IN ('open', 'claimed') AND NOT adjudicating;
-- The queue of one judge.
CREATE INDEX reviews_judge ON reviews (project_id, judge, urgency, due_at, id) WHERE state IN ('open', 'claimed', 'adjudication');
