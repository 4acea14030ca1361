-- Multiplies a project that benchdata built, in an SQLite file, by ten: every
-- trace with all that hangs on it, under new ids (another second character of
-- each ULID), in runs and clusters of their own. Texts stay shared and the
-- audit log stays as it is, so the file is good for measuring speed and for
-- nothing else. The program counts everything anew when it opens the file.
--
--     sqlite3 project.db < cmd/benchdata/times10.sql
PRAGMA foreign_keys = off;
PRAGMA cache_size = -400000;
PRAGMA synchronous = off;
BEGIN IMMEDIATE;
CREATE TEMP TABLE k (c TEXT);
INSERT INTO k VALUES ('2'), ('3'), ('4'), ('5'), ('6'), ('7'), ('8'), ('9'), ('A');
INSERT INTO runs (id, project_id, name, created_at)
SELECT '0' || c || substr(id, 3), project_id, name || '-' || c, created_at FROM runs, k;
INSERT INTO traces (id, project_id, external_id, revision, current, content_hash, candidate_hash, reference_hash, domain, stakes, title, cluster,
    body_hash, created_at)
SELECT '0' || c || substr(id, 3), project_id, external_id || '-' || c, revision, current, content_hash, candidate_hash, reference_hash, domain,
    stakes, title, CASE cluster WHEN '' THEN '' ELSE cluster || '-' || c END, body_hash, created_at FROM k, traces;
INSERT INTO run_traces (run_id, trace_id)
SELECT '0' || c || substr(run_id, 3), '0' || c || substr(trace_id, 3) FROM k, run_traces;
INSERT INTO evaluations (id, project_id, trace_id, judge, prompt_version, engine, model, identity, judgment_body, status, score, verdict, label,
    critical, lead_reason, refused_field, error, attempts, repairs, transport_retries, prompt_tokens, completion_tokens, cost_usd, latency_ms,
    result_verdict, result_label, result_source, fence, lease_holder, lease_expires_at, created_at, started_at, finished_at)
SELECT '0' || c || substr(id, 3), project_id, '0' || c || substr(trace_id, 3), judge, prompt_version, engine, model, identity, judgment_body,
    status, score, verdict, label, critical, lead_reason, refused_field, error, attempts, repairs, transport_retries, prompt_tokens,
    completion_tokens, cost_usd, latency_ms, result_verdict, result_label, result_source, fence, lease_holder, lease_expires_at, created_at,
    started_at, finished_at FROM k, evaluations;
INSERT INTO evaluation_reasons (evaluation_id, position, code, detail)
SELECT '0' || c || substr(evaluation_id, 3), position, code, detail FROM k, evaluation_reasons;
INSERT INTO evaluation_reports (evaluation_id, round, current, codec, dictionary, detail)
SELECT '0' || c || substr(evaluation_id, 3), round, current, codec, dictionary, detail FROM k, evaluation_reports;
INSERT INTO attempts (evaluation_id, number, prompt_hash, reply_hash, prompt_tokens, completion_tokens, cost_usd, latency_ms, started_at)
SELECT '0' || c || substr(evaluation_id, 3), number, prompt_hash, reply_hash, prompt_tokens, completion_tokens, cost_usd, latency_ms, started_at
FROM k, attempts;
INSERT INTO reviews (id, project_id, evaluation_id, trace_id, external_id, judge, domain, stakes, title, state, urgency, lead_reason, blind,
    stratum, inclusion_probability, due_at, opened_at, holder_id, claimed_at, lease_expires_at, adjudicating, decided_at)
SELECT '0' || c || substr(id, 3), project_id, '0' || c || substr(evaluation_id, 3), '0' || c || substr(trace_id, 3), external_id || '-' || c,
    judge, domain, stakes, title, state, urgency, lead_reason, blind, stratum, inclusion_probability, due_at, opened_at, holder_id, claimed_at,
    lease_expires_at, adjudicating, decided_at FROM k, reviews;
INSERT INTO review_skips (review_id, user_id, comment, skipped_at)
SELECT '0' || c || substr(review_id, 3), user_id, comment, skipped_at FROM k, review_skips;
INSERT INTO first_answers (review_id, user_id, verdict, label, findings, nonce, answered_at)
SELECT '0' || c || substr(review_id, 3), user_id, verdict, label, findings, nonce, answered_at FROM k, first_answers;
INSERT INTO exposures (evaluation_id, user_id, exposed_at)
SELECT '0' || c || substr(evaluation_id, 3), user_id, exposed_at FROM k, exposures;
INSERT INTO decisions (id, review_id, evaluation_id, user_id, action, choice, verdict, label, findings, reason_code, comment, confidence, blind,
    verdict_visible, first_verdict, first_label, adjudication, seconds, supersedes, decided_at)
SELECT '0' || c || substr(id, 3), '0' || c || substr(review_id, 3), '0' || c || substr(evaluation_id, 3), user_id, action, choice, verdict, label,
    findings, reason_code, comment, confidence, blind, verdict_visible, first_verdict, first_label, adjudication, seconds,
    '0' || c || substr(supersedes, 3), decided_at FROM k, decisions;
INSERT INTO labels (id, project_id, trace_id, judge, source, content_hash, reviewer, decision_id, evaluation_id, prompt_version, first_verdict,
    first_label, verdict, label, abstained, findings, comment, adjudicated, verdict_visible, stratum, inclusion_probability, cluster, labelled_at)
SELECT '0' || c || substr(id, 3), project_id, '0' || c || substr(trace_id, 3), judge, source, content_hash, reviewer,
    '0' || c || substr(decision_id, 3), '0' || c || substr(evaluation_id, 3), prompt_version, first_verdict, first_label, verdict, label,
    abstained, findings, comment, adjudicated, verdict_visible, stratum, inclusion_probability,
    CASE cluster WHEN '' THEN '' ELSE cluster || '-' || c END, labelled_at FROM k, labels;
INSERT INTO consensus (project_id, judge, trace_id, basis, verdict, label, abstained, tied, visible, stratum, inclusion_probability, cluster,
    labelled_at, labels)
SELECT project_id, judge, '0' || c || substr(trace_id, 3), basis, verdict, label, abstained, tied, visible, stratum, inclusion_probability,
    CASE cluster WHEN '' THEN '' ELSE cluster || '-' || c END, labelled_at, labels FROM k, consensus;
UPDATE tallies SET n = 10 * n;
UPDATE evaluations SET standing = 'pending', sealed = FALSE, cell = 0, cluster_key = 0, labelled_us = NULL;
UPDATE consensus SET pairs_waiting = FALSE;
DELETE FROM agreement_cells;
DELETE FROM agreement_clusters;
DELETE FROM agreement_cluster_counts;
DELETE FROM agreement_pairs;
DELETE FROM run_counts;
DELETE FROM settings WHERE name = 'kept_counts';
COMMIT;
PRAGMA synchronous = full;
PRAGMA optimize;
