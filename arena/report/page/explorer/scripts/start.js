/* The explorer comes to life when it comes near, or at once where the address asks for a question. */
const root = document.getElementById("explorer");
const byId = (name) => document.getElementById(`explorer-${name}`);

class Explorer {
  constructor(archive, questions) {
    this.questions = questions;
    this.archive = archive;
    this.list = new QuestionList(byId("list"), questions, (place) => this.go(place));
    this.view = new QuestionView(byId("question"), archive, questions, (place, a, b) => this.go(place, a, b));
    const best = questions.byRight();
    this.sides = [best[0], best[Math.min(1, best.length - 1)]];
    this.offerChoices();
    for (const control of root.querySelectorAll(".explorer-controls :is(input, select)")) {
      control.addEventListener("input", () => this.filter());
    }
    byId("search").addEventListener("focus", () => this.learnAnswers(), { once: true });
    byId("form").addEventListener("submit", (event) => event.preventDefault());
    window.addEventListener("hashchange", () => this.follow(true));
    this.filter();
  }

  offerChoices() {
    const { list, hops, contents } = this.questions;
    const distinct = (values) => Array.from(new Set(values));
    offer("kind", distinct(list.kind).map((kind) => [kind, kind.replace("_", " ")]));
    offer("hops", distinct(hops).filter((n) => n >= 0).sort((a, b) => a - b).map((n) => [String(n), String(n)]));
    offer("cell", contents.cells.map((cell, number) => [String(number), cell.name]));
    offer("outcome", contents.outcomes.map((name) => [name, name]));
    const order = Object.keys(contents.classes);
    const found = distinct(list.findings).sort((a, b) => order.indexOf(a) - order.indexOf(b));
    offer("finding", found.map((name) => [name, nameText(name)]));
  }

  async learnAnswers() {
    this.questions.learn(await this.archive.answers());
    this.filter();
  }

  filter() {
    const wanted = { text: byId("search").value, disagree: byId("disagree").checked };
    for (const name of ["kind", "hops", "cell", "outcome", "finding"]) wanted[name] = byId(name).value;
    const places = this.questions.found(wanted);
    this.list.show(places);
    byId("count").textContent = `${count(places.length)} of ${counted(this.questions.size, "question")}`;
  }

  /* Open a question by way of the address, so that it can be gone back to; another cell takes the address' place. */
  go(place, a = this.sides[0], b = this.sides[1]) {
    const { list, contents } = this.questions;
    const hash = hashOf(list.id[place], contents.cells[a].key, contents.cells[b].key);
    if (location.hash === hash) return;
    if (place === this.list.open) history.replaceState(null, "", hash);
    else history.pushState(null, "", hash);
    this.follow(false);
  }

  /* Show what the address asks for; a cell that it does not know stays as it was. */
  async follow(scrolling) {
    const asked = addressed();
    if (!asked) return;
    const place = this.questions.places.get(asked.question);
    if (place === undefined) {
      const unknown = remark("No question of this run has the id ", foreign(asked.question ?? ""));
      byId("question").replaceChildren(unknown);
      return;
    }
    const keys = this.questions.contents.cells.map((cell) => cell.key);
    this.sides = [asked.a, asked.b].map((key, side) => (keys.includes(key) ? keys.indexOf(key) : this.sides[side]));
    this.list.mark(place);
    await this.view.show(place, ...this.sides, (by) => this.list.beside(by));
    if (scrolling) byId("question").scrollIntoView({ block: "start", behavior: "instant" });
  }
}

function offer(name, choices) {
  byId(name).append(...choices.map(([value, text]) => {
    const option = make("option", "", text);
    option.value = value;
    return option;
  }));
}

async function start() {
  const archive = new Archive(document.getElementById("explorer-payload").textContent);
  const [contents, list] = await Promise.all([archive.contents(), archive.list()]);
  const explorer = new Explorer(archive, new Questions(contents, list));
  root.classList.add("ready");
  await explorer.follow(true);
}

{
  let started = false;
  const begin = () => {
    if (started) return;
    started = true;
    start().catch((error) => {
      byId("count").textContent = `The questions could not be opened: ${error.message}`;
    });
  };
  const seen = (entries) => entries.some((entry) => entry.isIntersecting) && begin();
  const near = new IntersectionObserver(seen, { rootMargin: "600px" });
  const look = () => (addressed() ? begin() : near.observe(root));
  requestAnimationFrame(() => setTimeout(look, 0));
  window.addEventListener("hashchange", () => addressed() && begin());
}
