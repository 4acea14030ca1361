// Package store keeps everything: traces, evaluations, the review queue,
// decisions, labels, users, and the audit chain.
//
// One Store stands over one database, SQLite or PostgreSQL, and behaves the same
// on both; several processes may have one each over the same database. Every
// method that changes something
// takes the actor, checks the permission, and writes its audit event in the
// same transaction; a denied attempt is recorded too. What a person may not
// see (a judge's verdict under blind review) is left out here, at the store's
// boundary, not in pages.
//
// The package never calls a model and never renders a page. The time is the
// database's, or Options.Now's.
package store
