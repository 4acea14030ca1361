package views

// MembersPage lists who works here.
type MembersPage struct {
	Frame
	Rows []MemberRow
	// MayChange shows the form that adds somebody; New is what was typed in it.
	MayChange bool
	New       NewMember
}

// MemberRow is one person.
type MemberRow struct {
	Href, Name, Email, Title, Role                string
	Domains, Languages, Qualifications, Conflicts string // by commas; empty: none named
	Holds                                         int
	Disabled                                      bool
}

// NewMember is the form that adds somebody, with the fault beside its field.
type NewMember struct {
	Email, Name, Role                    string
	EmailFault, NameFault, PasswordFault string
	Open                                 bool
}

// MemberPage is one person, and for admins the forms that change them.
type MemberPage struct {
	Frame
	ID, Email     string
	Disabled      bool
	DisabledAt    string
	MayChange     bool
	Holds         int
	Fields        MemberFields
	Fault         Notice // what kept a change from being made
	PasswordFault string
}

// MemberFields are a person's name, role and profile as text.
type MemberFields struct {
	Name, Role, Title, Domains, Languages, Qualifications string // lists by commas
	Conflicts                                             string // one a line
	TimeZone                                              string
	// Faults by field name.
	NameFault, RoleFault, TitleFault, DomainsFault, LanguagesFault, QualificationsFault, ConflictsFault, TimeZoneFault string
}

// RoleChoices are the roles with what they may do.
var RoleChoices = []Choice{
	{"reviewer", "Reviewer: decides items"}, {"lead", "Lead: also settles, assigns, and changes the policy"},
	{"auditor", "Auditor: reads everything, decides nothing"}, {"admin", "Admin: also keeps members"},
}
