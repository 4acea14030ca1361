-- +goose Up
-- Of code '', sealed: the evaluations of a run that wait blind, each once. Their
-- reasons, counted one by one, told who may decide how many each has.
-- What the program has not counted yet is not sealed in its row; it counts that itself.
INSERT INTO run_reasons (run_id, judge, code, sealed, n)
SELECT rt.run_id, e.judge, '', TRUE, count(*)
FROM run_traces rt JOIN evaluations e ON e.trace_id = rt.trace_id
WHERE e.sealed
GROUP BY rt.run_id, e.judge;
