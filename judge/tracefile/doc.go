// Package tracefile reads trace files: JSON lines, a JSON array (or JSON values
// one after another), and CSV with the same names as columns.
//
// A bad line is a *LineError and reading goes on after it; nothing of a bad line
// is ever returned. What is returned is whole: names are the trace's own (never
// an alias), stakes are set, and every rule of the format holds. Memory does not
// grow with the length of a line or of the file, but for a hash an id.
//
// The package never guesses at broken input, never drops a field in silence
// (unknown ones go to the metadata, with a warning), and never follows or
// interprets what a trace says.
package tracefile
