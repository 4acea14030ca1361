package store

// raterOf is SQL that names who gave the verdict of an evaluation, as statistics
// tell raters apart: its model; "rules" where identical texts needed no model;
// and a model whose verdict is the vote of several calls is another rater than
// the same model asked once. e is the alias of the evaluation.
func raterOf(e string) string {
	return `CASE WHEN ` + e + `.answered_engine <> '' THEN ` + e + `.answered_engine WHEN ` + e + `.samples > 1 THEN ` +
		e + `.model || ' ×' || ` + e + `.samples ELSE ` + e + `.model END`
}

// answeredBy is SQL that gives the engine and the model that answered, where
// they are not those that were planned.
func answeredBy(e string) (engine, model string) {
	return `CASE WHEN ` + e + `.answered_engine <> '' THEN ` + e + `.answered_engine ELSE ` + e + `.engine END`,
		`CASE WHEN ` + e + `.answered_engine <> '' THEN ` + e + `.answered_engine ELSE ` + e + `.model END`
}
