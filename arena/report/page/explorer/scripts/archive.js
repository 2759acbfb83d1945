/* The run inside the page: each member is opened when it is first asked for, and kept. */
class Archive {
  constructor(text) {
    this.lines = text.trim().split("\n");
    this.kept = new Map();
  }

  /* The JSON of a line. */
  line(number) {
    if (!this.kept.has(number)) this.kept.set(number, arena.inflated(this.lines[number]).then(JSON.parse));
    return this.kept.get(number);
  }

  contents() {
    return this.line(0);
  }

  async list() {
    return this.line((await this.contents()).list);
  }

  /* Every answer, question by question through the cells; null where there is none. */
  async answers() {
    const { texts, number } = await this.line((await this.contents()).answers);
    this.allAnswers ||= number.map((place) => (place < 0 ? null : texts[place]));
    return this.allAnswers;
  }

  /* What the cells made of the question at a place of the list. */
  async question(place) {
    const contents = await this.contents();
    const number = Math.floor(place / contents.chunk_questions);
    const lines = contents.chunks[number].concat(contents.lanes ? [contents.lanes[number]] : []);
    const [numbers, words, lanes, names] = await Promise.all([
      ...lines.map((line) => this.line(line)),
      ...(contents.lanes ? [] : [null]),
      this.line(contents.names),
    ]);
    const key = `chunk ${number}`;
    if (!this.kept.has(key)) this.kept.set(key, new Chunk(numbers, words, lanes, contents));
    return this.kept.get(key).question(place % contents.chunk_questions, names);
  }

  /* The text of a document by its number in the page; null: not known, undefined: left out. */
  async text(number) {
    const { texts } = await this.contents();
    const held = texts.filter(([first]) => first <= number).pop();
    return held ? (await this.line(held[1]))[number - held[0]] : undefined;
  }
}
