// Package ruling tells on which parts of an item a person rules, between which
// choices, and what the judge chose; and of a person's rulings, whether they
// fit, where they differ from the judge's, and what they come to by the judge's
// own formula.
//
// It is pure: it reads a judge, a trace and an evaluation, and keeps nothing.
// What is computed from the texts alone (where a quotation stands, how two texts
// differ, which steps line up) is evidence and is always there; what comes from
// a report is only there when the evaluation is given. A sheet made without an
// evaluation holds nothing of any report.
package ruling
