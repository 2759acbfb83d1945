/* What was retrieved: hits with their lanes, gold marked, what was dropped, what k had no room for. */
function retrievals(archive, cell) {
  if (!cell.retrievals.length) return [remark("It retrieved nothing.")];
  return cell.retrievals.map((one, place) => {
    const summary = retrievalSummary(one, place, cell.retrievals.length);
    const made = fold("explorer-retrieval", summary, ...retrievalBody(archive, one, cell));
    made.open = cell.retrievals.length < 3 || place === 0;
    return made;
  });
}

function retrievalSummary(one, place, n) {
  const gold = one.hits.filter((hit) => hit.document.gold);
  const found = gold.length ? gold.map((hit) => `${hit.document.gold} at ${hit.rank}`).join(", ") : "no gold";
  const number = n > 1 ? `${place + 1} of ${n}: ` : "";
  const asked = one.query !== null && [" \u2014 ", foreign(beginning(one.query, 70))];
  return [`${number}${counted(one.hits.length, "hit")}, ${found}`, ...(asked || [])];
}

function retrievalBody(archive, one, cell) {
  const asked = one.query === null ? "the question as it is" : foreign(one.query);
  return [
    remark("Asked ", asked, " \u2014 ", foreign(one.request), "."),
    one.hits.length ? hitGrid(archive, "Hits", one.hits, cell) : remark("Nothing was handed on."),
    one.dropped.length > 0 && make("h5", "", "Dropped under the threshold"),
    one.dropped.length > 0 && hitGrid(archive, "Dropped hits", one.dropped, cell),
    one.n_beyond > 0 && remark(...beyondText(one)),
  ];
}

function beyondText(one) {
  const text = `${counted(one.n_beyond, "further candidate")} beyond k`;
  if (!one.beyond.length) return [`${text}, no gold among them.`];
  const places = one.beyond.flatMap(({ document, place }, number) => [
    number ? ", " : "",
    chip("gold", document.gold),
    ` ${counted(place, "place")} below`,
  ]);
  return [`${text}; of gold `, ...places, "."];
}

/* A column for each lane that any of the hits is in. */
function hitGrid(archive, caption, hits, cell) {
  const lanes = hits.length ? hits[0].lanes.map(({ name }) => name) : [];
  const seen = lanes.filter((_, place) => hits.some((hit) => hit.lanes[place].placed));
  const numbers = ["score", ...seen].map((name) => [name, "number"]);
  const headings = [["#", "number"], ["document", "explorer-document"], ...numbers];
  const body = hits.map((hit) => [
    String(hit.rank),
    hitCell(archive, hit, cell),
    hit.score ?? DASH,
    ...hit.lanes.filter(({ name }) => seen.includes(name)).map(({ placed }) => laneCell(placed)),
  ]);
  const made = grid(caption, headings, body);
  made.querySelectorAll("tbody tr").forEach((row, place) => {
    row.classList.toggle("gold", Boolean(hits[place].document.gold));
  });
  return made;
}

function laneCell(placed) {
  return placed ? [`${placed.rank}. `, make("small", "", placed.score ?? DASH)] : DASH;
}

function hitCell(archive, hit, cell) {
  const { document } = hit;
  const span = hit.start >= 0 ? [hit.start, hit.end] : null;
  const made = make("div");
  made.append(
    passageButton(archive, document, span, (box) => {
      made.append(box);
      return box;
    }),
    make("div", "explorer-marks", ...documentMarks(document, cell), foreign(hit.passage ?? document.id, "mono")),
  );
  return made;
}

/* What a document is to the record of a cell, each mark with a space after it. */
function documentMarks(document, cell) {
  const marks = [
    document.gold && chip("gold", document.gold),
    cell.used.includes(document) && chip("used", "used"),
    cell.cited.includes(document) && chip("cited", "cited"),
  ];
  return marks.filter(Boolean).flatMap((mark) => [mark, " "]);
}
