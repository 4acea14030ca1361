// Package pack makes large texts small and gives them back byte for byte.
//
// What a project stores repeats itself. A prompt is a template, which all
// prompts of a judge's version share, round a trace that is stored already; a
// reply is found again in the report that was read from it. So a text is packed
// as a zstd frame whose history is primed with what it repeats: a Dictionary of
// earlier texts of its kind, then its bases, the texts that it contains. A
// prompt of 8 KB then takes some 150 bytes. Measurements and what follows from
// them stand at Train and Pack; `go test -bench . ./store/pack` repeats them.
//
// This package never decides what is stored, when, or against which base; it
// knows no database. It can't tell a right text from a wrong one for certain:
// frames carry a 32-bit checksum, which catches a damaged body and a wrong base
// or dictionary by accident, not by intent. A caller who knows a text's SHA-256
// must compare it after Unpack.
//
// A base or dictionary must stay readable, unchanged, for as long as anything
// is packed against it. A dictionary holds its samples word for word: who must
// be able to forget a text must not put it into one. For the same reason pack
// what may be deleted against what is kept (the raw reply against the stored
// report), never the other way round.
package pack
