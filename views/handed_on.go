package views

import "time"

// HandedOn is a person who escalated an item.
type HandedOn struct {
	Name, Comment string
	At            time.Time
	Withheld      bool // they wrote something that is sealed
}

// Notice says who passed the item on and what they wrote.
func (h HandedOn) Notice(now time.Time) Notice {
	n := Notice{Title: h.Name + " escalated this item, " + shortTime(now, h.At)}
	switch {
	case h.Comment != "":
		n.Text = "“" + h.Comment + "”"
	case h.Withheld:
		n.Text = "What they wrote stays sealed until you have answered: they knew more than you do."
	default:
		n.Text = "They wrote nothing about it."
	}
	return n
}
