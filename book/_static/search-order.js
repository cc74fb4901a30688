// Read by the search after its own weights: functions of the package stand below the chapters.
Scorer.score = ([page, , , , score]) => (page.startsWith("book/reference/api/") ? score - 40 : score);
