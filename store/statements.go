package store

import (
	"context"
	"database/sql"
	"sync"
)

// statements are those of one pool, prepared once and used again by every
// transaction: of a decision's time on SQLite, a third went into reading its
// SQL. PostgreSQL's driver does this by itself.
type statements struct {
	mu      sync.Mutex
	byQuery map[string]*sql.Stmt
	once    map[string]bool // queries seen one time
}

// maxStatements bounds what is kept. Queries are made of constant parts, but
// lists of values make many of some: one is kept when it comes a second time.
const maxStatements = 500

// get gives the statement of a query, nil when it is not prepared yet.
func (s *statements) get(query string) *sql.Stmt {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byQuery[query]
}

// keep prepares queries for the next time. The pool must have a connection to
// spare, so it is not for the inside of a transaction. What can't be prepared
// is not kept: who runs it next is told why.
func (s *statements) keep(ctx context.Context, db *sql.DB, queries ...string) {
	if s == nil {
		return
	}
	for _, query := range queries {
		s.mu.Lock()
		_, known := s.byQuery[query]
		again := s.once[query]
		if !known && !again {
			if len(s.once) >= 4*maxStatements {
				clear(s.once)
			}
			s.once[query] = true
		}
		full := len(s.byQuery) >= maxStatements
		s.mu.Unlock()
		if known || !again || full || ctx.Err() != nil {
			continue
		}
		stmt, err := db.PrepareContext(ctx, query)
		if err != nil {
			continue
		}
		s.mu.Lock()
		other, known := s.byQuery[query]
		if !known {
			s.byQuery[query] = stmt
		}
		s.mu.Unlock()
		if other != nil {
			_ = stmt.Close() // another goroutine was first; nobody has used this one
		}
	}
}

// statementsFor are for databases whose driver keeps none itself.
func statementsFor(e engine) *statements {
	if !e.prepares() {
		return nil
	}
	return &statements{byQuery: map[string]*sql.Stmt{}, once: map[string]bool{}}
}
