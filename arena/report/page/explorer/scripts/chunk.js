/* Some questions with all that their cells made of them: the tables of `columns.py`; of an integer, -1 is None. */

/* Where the rows of each owner begin: counts 2, 0, 3 are 0, 2, 2, 5. */
function offsets(counts) {
  const starts = [0];
  for (const count of counts) starts.push(starts[starts.length - 1] + count);
  return starts;
}

/* The rows `from` to `to` of a table, end exclusive, as objects. */
function rows(columns, from, to) {
  const names = Object.keys(columns);
  return Array.from({ length: to - from }, (_, place) =>
    Object.fromEntries(names.map((name) => [name, columns[name][from + place]])),
  );
}

/* Hands out the rows of a table owner by owner, as the owner's column `n_...` counts them. */
class Owned {
  constructor(counts, columns) {
    this.starts = offsets(counts);
    this.columns = columns;
  }

  of(owner) {
    return rows(this.columns, this.starts[owner], this.starts[owner + 1]);
  }
}

class Chunk {
  constructor(numbers, words, lanes, contents) {
    this.words = words;
    this.contents = contents;
    this.questions = numbers.questions;
    this.documents = new Owned(this.questions.n_documents, { number: this.questions.documents });
    this.gold = new Owned(this.questions.n_gold, { label: this.questions.gold });
    this.readRetrievals(numbers, lanes || {});
    this.readRecords(numbers);
    this.scores = numbers.scores;
    this.codes = numbers.codes;
  }

  readRetrievals(numbers, lanes) {
    this.retrievals = numbers.retrievals;
    const { n_hits: kept, n_dropped: dropped } = this.retrievals;
    const hits = numbers.hits;
    this.hits = new Owned(kept.map((count, place) => count + dropped[place]), hits);
    this.beyond = new Owned(this.retrievals.n_gold_beyond, numbers.beyond);
    this.lanes = Object.entries(lanes).map(([name, lane]) => {
      const scores = offsets(lane.rank.map((rank) => (rank < 0 ? 0 : 1)));
      const placed = (hit) => ({ rank: lane.rank[hit], score: lane.score[scores[hit]] });
      return { name, at: (hit) => (lane.rank[hit] < 0 ? null : placed(hit)) };
    });
  }

  readRecords(numbers) {
    this.records = numbers.records;
    this.verdicts = numbers.verdicts;
    this.retrieved = new Owned(this.records.n_retrievals, { place: numbers.retrieved });
    this.used = new Owned(this.records.n_used, { document: numbers.used });
    this.cited = new Owned(this.records.n_cited, { document: numbers.cited });
    const decisions = numbers.decisions;
    this.decisions = new Owned(this.records.n_decisions, decisions);
    this.decisionParts = new Owned(decisions.n_parts, numbers.decision_parts);
    this.roles = new Owned(this.records.n_roles, numbers.roles);
    this.verdictParts = new Owned(this.verdicts.n_parts, numbers.verdict_parts);
  }

  /* The text of a word; null stands for None. */
  word(number) {
    return number < 0 ? null : this.words[number];
  }

  /* Names of columns -> their words, in a row. */
  worded(row, names) {
    return Object.assign(row, Object.fromEntries(names.map((name) => [name, this.word(row[name])])));
  }

  /* `gold`: [{document, label}]; `cells`: number of the cell -> what it made of the question. */
  question(slot, names) {
    const place = this.questions.slot.indexOf(slot);
    const documents = this.documents.of(place).map(({ number }) => ({
      number,
      id: names.ids[number],
      title: names.titles[number],
      gold: null,
    }));
    const gold = this.gold.of(place).map(({ label }, number) => {
      documents[number].gold = this.word(label);
      return documents[number];
    });
    const cells = new Map();
    this.records.question.forEach((owner, record) => {
      if (owner === slot) cells.set(this.records.cell[record], this.record(record, place, documents));
    });
    return { gold, cells };
  }

  record(number, place, documents) {
    const found = rows(this.records, number, number + 1)[0];
    const first = this.questions.first_retrieval[place];
    const ofDocument = ({ document }) => documents[document];
    this.worded(found, ["finding", "stage", "type", "message"]);
    return Object.assign(found, {
      outcome: this.contents.outcomes[found.outcome],
      flags: this.contents.flags.filter((_, bit) => Math.floor(found.flags / 2 ** bit) % 2),
      missing: documents[found.missing] || null,
      retrievals: this.retrieved.of(number).map((one) => this.retrieval(first + one.place, documents)),
      used: this.used.of(number).map(ofDocument),
      cited: this.cited.of(number).map(ofDocument),
      decisions: this.decisionsOf(number, documents),
      roles: this.roles.of(number).map((role) => this.worded(role, ["role", "models"])),
      verdicts: this.verdictsOf(found.question, found.cell),
      scores: this.scoresOf(number),
    });
  }

  retrieval(number, documents) {
    const found = this.worded(rows(this.retrievals, number, number + 1)[0], ["query", "request"]);
    const start = this.hits.starts[number];
    const hits = this.hits.of(number).map((hit, place) =>
      Object.assign(hit, {
        passage: this.word(hit.passage),
        document: documents[hit.document],
        lanes: this.lanes.map((lane) => ({ name: lane.name, placed: lane.at(start + place) })),
      }),
    );
    const beyond = this.beyond.of(number).map(({ document, place }) => ({ document: documents[document], place }));
    return Object.assign(found, { hits: hits.slice(0, found.n_hits), dropped: hits.slice(found.n_hits), beyond });
  }

  decisionsOf(record, documents) {
    const start = this.decisions.starts[record];
    return this.decisions.of(record).map((decision, place) =>
      Object.assign(this.worded(decision, ["node", "choice", "origin", "tier", "changed", "subject"]), {
        document: documents[decision.document] || null,
        parts: this.decisionParts.of(start + place).map((part) => this.worded(part, ["name"])),
      }),
    );
  }

  verdictsOf(question, cell) {
    const found = [];
    this.verdicts.question.forEach((owner, number) => {
      if (owner !== question || this.verdicts.cell[number] !== cell) return;
      const verdict = this.worded(rows(this.verdicts, number, number + 1)[0], ["metric", "judge", "reason"]);
      verdict.parts = this.verdictParts.of(number).map((part) => this.worded(part, ["name", "reason"]));
      found.push(verdict);
    });
    return found;
  }

  /* In the order of the page's metrics; one that is not in the record is left out. */
  scoresOf(record) {
    const { metrics } = this.contents;
    const { value, reason, low, high } = this.scores;
    return metrics.flatMap((metric, place) => {
      const score = this.codes[record * metrics.length + place] - 1;
      if (score < 0) return [];
      return [{ metric, value: value[score], reason: this.word(reason[score]), low: low[score], high: high[score] }];
    });
  }
}
