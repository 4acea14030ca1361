package judge

// How blind items stand among each other in the queue. By their reasons the gravest
// come first, as all items do; but the order then hints at what is sealed. Evenly only
// stakes and due time count, and no rule of due times asks for a reason, so that the
// order tells nothing.
const (
	BlindByReason = "reason"
	BlindEvenly   = "even"
)

// QueueReason is the reason by which an item stands in the queue and is due: its leading
// one, or for a blind item that the policy orders evenly one that is the same for all.
func (p Policy) QueueReason(lead string, blind bool) string {
	if blind && p.BlindOrder == BlindEvenly {
		return ReasonSubstantiveDifference // the middle of the order: neither before all nor after all
	}
	return lead
}

// QueueHours is DueHours by QueueReason.
func (p Policy) QueueHours(lead string, blind bool, stakes Stakes, domain string) int {
	if blind && p.BlindOrder == BlindEvenly {
		lead = "" // rules that name a reason fit none
	}
	return p.DueHours(lead, stakes, domain)
}
