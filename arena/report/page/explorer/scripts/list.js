/* The list of questions: of thousands, only those in sight are elements. One tab stop; arrow keys move in it. */
const ROW_PIXELS = 58;
const SPARE_ROWS = 6;

class QuestionList {
  /* `chosen` is told the place of the question that was opened. */
  constructor(element, questions, chosen) {
    this.element = element;
    this.questions = questions;
    this.chosen = chosen;
    this.places = [];
    this.active = 0;
    this.open = null;
    this.space = make("div", "explorer-space");
    element.replaceChildren(this.space);
    element.addEventListener("scroll", () => this.draw());
    element.addEventListener("keydown", (event) => this.pressed(event));
    new ResizeObserver(() => this.draw()).observe(element);
  }

  show(places) {
    this.places = places;
    this.active = Math.max(0, places.indexOf(this.open));
    this.space.style.setProperty("height", `${places.length * ROW_PIXELS}px`);
    this.element.scrollTop = 0;
    this.reveal();
    this.draw();
  }

  /* Mark a question as the one that is open. */
  mark(place) {
    this.open = place;
    const row = this.places.indexOf(place);
    if (row >= 0) this.active = row;
    this.reveal();
    this.draw();
  }

  /* The question `by` rows from the one that is open; undefined: there is none. */
  beside(by) {
    return this.places[this.places.indexOf(this.open) + by];
  }

  reveal() {
    const top = this.active * ROW_PIXELS;
    const { scrollTop, clientHeight } = this.element;
    if (top < scrollTop) this.element.scrollTop = top;
    else if (top + ROW_PIXELS > scrollTop + clientHeight) this.element.scrollTop = top + ROW_PIXELS - clientHeight;
  }

  pressed(event) {
    const page = Math.max(1, Math.floor(this.element.clientHeight / ROW_PIXELS) - 1);
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    if (event.key in moves) {
      this.active = Math.min(Math.max(this.active + moves[event.key], 0), this.places.length - 1);
      this.reveal();
      this.draw();
    } else if (event.key === "Enter" || event.key === " ") {
      if (this.places.length) this.chosen(this.places[this.active]);
    } else {
      return;
    }
    event.preventDefault();
  }

  draw() {
    const first = Math.max(0, Math.floor(this.element.scrollTop / ROW_PIXELS) - SPARE_ROWS);
    const seen = Math.ceil(this.element.clientHeight / ROW_PIXELS) + 2 * SPARE_ROWS;
    const last = Math.min(this.places.length, first + seen);
    const drawn = [];
    for (let row = first; row < last; row += 1) drawn.push(this.row(row));
    this.space.replaceChildren(...drawn);
    const active = this.places.length ? `explorer-row-${this.active}` : "";
    this.element.setAttribute("aria-activedescendant", active);
  }

  row(row) {
    const place = this.places[row];
    const { list } = this.questions;
    const facts = [list.kind[place].replace("_", " "), hopsText(this.questions, place)].filter(Boolean).join(", ");
    const id = foreign(beginning(list.id[place], 80), "mono");
    const made = make(
      "div",
      "explorer-row",
      make("div", "explorer-asked", foreign(beginning(list.text[place], 300))),
      make("div", "explorer-facts", make("span", "explorer-about", id, ` ${facts}`), strip(this.questions, place)),
    );
    made.id = `explorer-row-${row}`;
    made.setAttribute("role", "option");
    made.setAttribute("aria-selected", String(place === this.open));
    made.setAttribute("aria-posinset", String(row + 1));
    made.setAttribute("aria-setsize", String(this.places.length));
    made.classList.toggle("active", row === this.active);
    made.style.setProperty("top", `${row * ROW_PIXELS}px`);
    made.addEventListener("click", () => this.chosen(place));
    return made;
  }
}

/* As in "2 hops (2hop)"; empty where the dataset does not say. */
function hopsText(questions, place) {
  const hops = questions.hops[place];
  if (hops < 0) return "";
  const shape = questions.list.shape[place];
  return counted(hops, "hop") + (shape && shape !== `${hops}hop` ? ` (${shape})` : "");
}

/* One mark for each cell, in the order of the leaderboard. */
function strip(questions, place) {
  const marks = questions.marks(place);
  const right = marks.filter((mark) => mark === RIGHT).length;
  const made = make("span", "explorer-strip", ...marks.map((mark) => make("span", `mark-${mark}`, MARKS[mark])));
  made.setAttribute("role", "img");
  made.setAttribute("aria-label", `right in ${right} of ${counted(marks.length, "cell")}`);
  return made;
}
