/* One question: what is right, what all cells said, and two of them side by side. */
class QuestionView {
  /* `went(place, a, b)` is told when another cell or a neighbour of the question is chosen. */
  constructor(element, archive, questions, went) {
    this.element = element;
    this.archive = archive;
    this.questions = questions;
    this.contents = questions.contents;
    this.went = went;
    this.turn = 0;
  }

  async show(place, a, b, beside) {
    this.turn += 1;
    const turn = this.turn;
    this.element.setAttribute("aria-busy", "true");
    const [found, answers] = await Promise.all([this.archive.question(place), this.archive.answers()]);
    if (turn !== this.turn) return;
    const said = (cell) => answers[place * this.questions.n + cell];
    const sides = [a, b].map((cell, side) => this.side(place, [a, b], side, found.cells.get(cell), said(cell)));
    this.element.replaceChildren(
      this.heading(place, a, b, beside),
      this.gold(place, found.gold),
      this.glance(place, [a, b], said),
      make("div", "explorer-sides", ...sides),
      this.left(place),
    );
    this.element.setAttribute("aria-busy", "false");
  }

  heading(place, a, b, beside) {
    const { list } = this.questions;
    const facts = [list.kind[place].replace("_", " "), hopsText(this.questions, place)].filter(Boolean).join(", ");
    const move = (text, to) => {
      const made = button(text, () => this.went(to, a, b));
      made.disabled = to === undefined;
      return made;
    };
    const copied = make("output", "explorer-note");
    const copy = button("Copy link", async () => {
      const link = linkTo(hashOf(list.id[place], this.key(a), this.key(b)));
      copied.textContent = (await put(link)) ? "copied" : "it is in the address bar";
    });
    return make(
      "div",
      "explorer-heading",
      make("h3", "", foreign(list.text[place])),
      make("p", "explorer-about", foreign(list.id[place], "mono"), ` ${facts}`),
      make("div", "explorer-buttons", move("Previous", beside(-1)), move("Next", beside(1)), copy, copied),
    );
  }

  key(cell) {
    return this.contents.cells[cell].key;
  }

  gold(place, documents) {
    const answers = this.questions.list.gold[place];
    const answerable = this.questions.answerable[place] === 1;
    const said = answers.length
      ? answers.flatMap((answer, number) => [number ? make("span", "explorer-or", " or ") : "", foreign(answer)])
      : [make("em", "", answerable ? "none is given" : "nobody can answer this: right is to abstain")];
    const items = documents.map((document) => {
      const item = make("li", "", chip("gold", document.gold), " ");
      item.append(passageButton(this.archive, document, null, (box) => {
        item.append(box);
        return box;
      }));
      return item;
    });
    return make(
      "div",
      "panel explorer-gold",
      make("p", "", make("strong", "", "Right: "), ...said),
      documents.length > 0 ? make("ul", "plain", ...items) : remark("No document is named as evidence."),
    );
  }

  /* Every cell in a line, each to be had on either side. */
  glance(place, sides, said) {
    const marks = this.questions.marks(place);
    const right = marks.filter((mark) => mark === RIGHT).length;
    const pick = (cell, side) => {
      const made = button("AB"[side], () => this.went(place, side ? sides[0] : cell, side ? cell : sides[1]));
      made.setAttribute("aria-pressed", String(sides[side] === cell));
      made.setAttribute("aria-label", `Show ${this.contents.cells[cell].name} as ${"AB"[side]}`);
      return made;
    };
    const body = this.contents.cells.map((cell, number) => {
      const finding = this.questions.finding(place, number);
      const answer = said(number);
      return [
        make("span", `mark-${marks[number]}`, MARKS[marks[number]]),
        foreign(cell.name),
        finding === null ? MARK_WORDS.none : nameText(finding),
        answer === null ? DASH : foreign(beginning(answer, 120)),
        make("span", "explorer-picks", pick(number, 0), pick(number, 1)),
      ];
    });
    const summary = `All cells: right in ${right} of ${marks.length}`;
    const wide = (name) => [name, "explorer-wide"];
    const headings = ["", wide("cell"), wide("came to"), wide("answer"), "show as"];
    return fold("explorer-glance", summary, grid("All cells on this question", headings, body));
  }

  side(place, sides, side, cell, answer) {
    const select = make("select", "", ...this.contents.cells.map((one, number) => {
      const option = make("option", "", one.name);
      option.value = String(number);
      option.selected = number === sides[side];
      return option;
    }));
    select.setAttribute("aria-label", `Cell on side ${"AB"[side]}`);
    select.addEventListener("change", () => {
      const chosen = Number(select.value);
      this.went(place, side ? sides[0] : chosen, side ? chosen : sides[1]);
    });
    const chosen = this.contents.cells[sides[side]];
    const setting = chosen.params.map(([name, value]) => `${name} ${value}`).join(", ");
    const model = chosen.llm ?? "no model";
    const made = make(
      "article",
      "explorer-side panel",
      make("h4", "explorer-side-name", "AB"[side], " ", select),
      fold("explorer-setting", "Setting", remark(foreign(setting ? `${model}; ${setting}` : model))),
      ...pane(this.archive, cell, answer, this.contents),
    );
    made.setAttribute("aria-label", `${"AB"[side]}: ${chosen.name}`);
    return made;
  }

  /* What the page has no room for, and where it is. */
  left(place) {
    const command = `${this.contents.inspect} ${quoted(wholeText(this.questions.list.id[place]))}`;
    const notes = this.contents.notes;
    const told = notes.length ? `Not in this page: ${notes.join("; ")}. ` : "";
    return remark(told, "Everything in the terminal: ", make("code", "", told ? `${command} --json` : command));
  }
}

/* A word of a shell's command line. */
function quoted(word) {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`;
}

/* Whether the clipboard took the text; a page opened from a file may have none. */
async function put(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
