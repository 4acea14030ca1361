package web

import (
	"context"
	"net/url"
	"slices"
	"strconv"

	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/views"
)

// seenRows is how many looks stand on one page.
const seenRows = 25

var seenWords = map[string]string{store.SawDesk: "on the desk", store.SawEvaluation: "on this page", store.SawByAPI: "through the API"}

// seen is who looked at an evaluation, for who may know; page counts from 1.
func (s *Server) seen(ctx context.Context, a store.Actor, id string, asked string) (v views.Seen, err error) {
	if a.Role == store.Reviewer {
		return v, nil
	}
	page, err := strconv.Atoi(asked)
	if err != nil || page < 1 {
		page = 1 // no number asks for the first
	}
	list, err := s.cfg.Store.Seen(ctx, a, id, (page-1)*seenRows, seenRows+1)
	if err != nil {
		return v, err
	}
	v.Told = true
	at := func(n int) string {
		return evaluationPath(id) + "?" + url.Values{"seen": {strconv.Itoa(n)}}.Encode() + "#seen"
	}
	if len(list) > seenRows {
		list, v.OlderHref = list[:seenRows], at(page+1)
	}
	if page > 1 {
		v.NewestHref = at(1)
	}
	v.More = page*seenRows >= store.MaxSeen
	for _, g := range list {
		v.Rows = append(v.Rows, views.SeenRow{Who: g.UserName, Where: seenWords[g.What], Sealed: g.Sealed, At: g.At})
	}
	return v, nil
}

// atWork is an item in the queue for a lead, who can send it to somebody or end the
// claim on it; nil for others, and when it waits no more.
func (s *Server) atWork(ctx context.Context, a store.Actor, v store.EvaluationView) (*views.ItemAtWork, error) {
	if !isLead(a) || !slices.Contains([]string{"open", "claimed", "adjudication"}, v.ReviewState) {
		return nil, nil
	}
	r, err := s.cfg.Store.GetReview(ctx, a, v.ReviewID)
	if err != nil {
		return nil, err
	}
	item := &views.ItemAtWork{
		ReviewID: r.ReviewID, Adjudicating: r.Adjudicating, Assigned: r.AssignedName, AssignedID: r.AssignedID, To: r.Addressee, Due: r.DueAt,
		Opinions: r.Opinions, OpinionsRequired: r.OpinionsRequired,
	}
	if r.HolderID != "" && r.LeaseExpiresAt != nil && r.LeaseExpiresAt.After(s.cfg.Now()) {
		item.Holder, item.HolderUntil = r.HolderName, *r.LeaseExpiresAt
	}
	if r.Adjudicating {
		item.People, err = s.addressees(ctx, a)
		item.People = append([]views.Choice{{Value: "", Text: "Any lead"}}, item.People...)
		return item, err
	}
	people, err := s.cfg.Store.Deciders(ctx, a)
	item.People = append(item.People, views.Choice{Value: store.HeldByNobody, Text: "Nobody: whoever takes it"})
	for _, x := range people {
		item.People = append(item.People, views.Choice{Value: x.ID, Text: x.Name})
	}
	return item, err
}
