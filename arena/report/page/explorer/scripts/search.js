/* Which questions are shown: by a text in them, their ids and answers, and by what the cells made of them. */
const RIGHT = "right";
const MARKS = { right: "\u25cf", wrong: "\u25cb", abstained: "\u2013", failed: "\u00d7", untold: "?", none: "\u00b7" };
const MARK_WORDS = {
  right: "right",
  wrong: "wrong",
  abstained: "abstained, wrongly",
  failed: "failed",
  untold: "cannot be told",
  none: "not asked",
};

/* Without case and accents. */
function folded(text) {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}

function wholeText(text) {
  return Array.isArray(text) ? text[0] : text;
}

class Questions {
  constructor(contents, list) {
    this.contents = contents;
    this.list = list;
    this.size = list.id.length;
    this.n = contents.cells.length;
    this.hops = list.hops;
    this.answerable = list.answerable;
    this.outcomes = list.outcome;
    this.findings = list.finding;
    this.places = new Map(list.id.map((id, place) => [id, place]));
    this.answers = null;
  }

  /* The outcome of a cell; null: it was not asked. */
  outcome(place, cell) {
    const found = this.outcomes[place * this.n + cell];
    return found < 0 ? null : this.contents.outcomes[found];
  }

  /* The failure class of a cell; null: it was not asked. */
  finding(place, cell) {
    const found = this.findings[place * this.n + cell];
    return found < 0 ? null : this.list.findings[found];
  }

  /* One of the names of MARKS. */
  mark(place, cell) {
    const finding = this.finding(place, cell);
    if (finding === null) return "none";
    const known = this.contents.classes[finding];
    if (known && known.right) return RIGHT;
    const outcome = this.outcome(place, cell);
    if (outcome === "failed") return "failed";
    if (!known || !known.failure) return "untold";
    return outcome === "abstained" ? "abstained" : "wrong";
  }

  marks(place) {
    return Array.from({ length: this.n }, (_, cell) => this.mark(place, cell));
  }

  /* The cells by how often they are right, most often first. */
  byRight() {
    const right = Array.from({ length: this.n }, () => 0);
    for (let place = 0; place < this.size; place += 1) {
      this.marks(place).forEach((mark, cell) => {
        right[cell] += mark === RIGHT;
      });
    }
    return right.map((_, cell) => cell).sort((a, b) => right[b] - right[a]);
  }

  /* Whether it is right in one cell and not in another. */
  disagree(place) {
    const marks = this.marks(place).filter((mark) => mark !== "none" && mark !== "untold");
    return marks.includes(RIGHT) && marks.some((mark) => mark !== RIGHT);
  }

  /* What is searched of a question, made when it is first asked for. */
  haystack(place) {
    this.haystacks ||= [];
    if (this.haystacks[place] === undefined) {
      const { id, text, gold } = this.list;
      const answers = this.answers ? this.answers.slice(place * this.n, (place + 1) * this.n) : [];
      const held = [id[place], text[place], ...gold[place], ...new Set(answers.filter((one) => one !== null))];
      this.haystacks[place] = folded(held.map(wholeText).join("\n"));
    }
    return this.haystacks[place];
  }

  /* Answers come after the list; what was searched without them is searched anew. */
  learn(answers) {
    this.answers = answers;
    this.haystacks = [];
  }

  /* The places of the questions that `wanted` lets through, in order. An empty wish lets all through. */
  found(wanted) {
    const words = folded(wanted.text).split(/\s+/).filter(Boolean);
    const places = [];
    for (let place = 0; place < this.size; place += 1) {
      if (this.passes(place, wanted) && (!words.length || this.holds(place, words))) places.push(place);
    }
    return places;
  }

  holds(place, words) {
    const haystack = this.haystack(place);
    return words.every((word) => haystack.includes(word));
  }

  passes(place, wanted) {
    if (wanted.kind && this.list.kind[place] !== wanted.kind) return false;
    if (wanted.hops && String(this.hops[place]) !== wanted.hops) return false;
    if (wanted.disagree && !this.disagree(place)) return false;
    if (!wanted.cell && !wanted.outcome && !wanted.finding) return true;
    const cells = wanted.cell ? [Number(wanted.cell)] : Array.from({ length: this.n }, (_, cell) => cell);
    return cells.some((cell) => this.cellPasses(place, cell, wanted));
  }

  cellPasses(place, cell, wanted) {
    const outcome = this.outcome(place, cell);
    if (outcome === null) return false;
    if (wanted.outcome && outcome !== wanted.outcome) return false;
    return !wanted.finding || this.finding(place, cell) === wanted.finding;
  }
}
