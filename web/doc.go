// Package web serves Countersign: pages for people and the API for systems.
//
// It ties the parts together and holds none of their rules. A handler asks who
// acts, parses the request, asks the store or the harness, fills a page struct
// and answers. It never opens a database by itself, never decides what a
// person may see (the store does), and never writes HTML outside views.
package web
