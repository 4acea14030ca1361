// Package store keeps everything: traces, evaluations, the review queue,
// decisions, labels, users, and the audit chain.
//
// One Store stands over one database. Every method that changes something
// takes the actor, checks the permission, and writes its audit event in the
// same transaction; a denied attempt is recorded too. What a person may not
// see (a judge's verdict under blind review) is left out here, at the store's
// boundary, not in pages.
//
// The package never calls a model, renders a page or reads the clock by
// itself: the time comes from Options.Now.
package store
