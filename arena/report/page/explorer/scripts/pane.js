/* One cell's side of a question. */
function pane(archive, cell, answer, contents) {
  if (!cell) return [remark("This cell has no record of this question.")];
  return [
    answerBlock(cell, answer, contents),
    facts(cell),
    ...part("Retrieved", retrievals(archive, cell)),
    ...part("Decided", decisions(archive, cell)),
    ...part("Asked of models", calls(cell)),
    ...(cell.verdicts.length ? part("Judged", verdicts(cell)) : []),
    ...part("Scored", scores(cell)),
  ];
}

function part(heading, content) {
  return [make("h4", "", heading), ...content.flat().filter(Boolean)];
}

function answerBlock(cell, answer, contents) {
  const known = contents.classes[cell.finding];
  const kind = known && known.right ? "good" : known && known.failure ? "bad" : "";
  const { missing } = cell;
  return make(
    "div",
    "explorer-answer",
    answerLine(cell, answer),
    make("p", "explorer-finding", chip(kind, nameText(cell.finding)), known && ` ${known.meaning}`),
    known && remark(...spelled(known.rule)),
    missing && remark("First missing: ", missing.gold && chip("gold", missing.gold), " ", foreign(titleOf(missing))),
  );
}

/* Names between backquotes as code. */
function spelled(text) {
  return text.split("`").map((piece, place) => (place % 2 ? make("code", "", piece) : piece));
}

function answerLine(cell, answer) {
  if (cell.outcome === "failed") {
    const words = [foreign(cell.type ?? ""), " ", foreign(cell.message ?? "")];
    return make("p", "explorer-said", make("strong", "", "Failed"), ` in stage ${cell.stage}: `, ...words);
  }
  const abstained = cell.outcome === "abstained" && chip("warn", "abstained");
  if (answer === null) return make("p", "explorer-said", make("em", "", "writes no answer by design"), " ", abstained);
  const said = answer === "" ? make("em", "", "an empty answer") : foreign(answer);
  return make("p", "explorer-said", said, " ", abstained);
}

/* The sum of a column over the roles; "unknown" where that of any role is. */
function total(roles, name) {
  return roles.some((role) => role[name] < 0) ? "unknown" : count(roles.reduce((sum, role) => sum + role[name], 0));
}

function facts(cell) {
  const notes = [
    cell.flags.includes("warm_up") && "warm-up",
    cell.flags.includes("replayed") && "replayed calls",
    cell.flags.includes("truncated") && "a reply was cut off",
    !cell.flags.includes("measured") && "latency not measured",
  ].filter(Boolean);
  const nCalls = cell.roles.reduce((sum, role) => sum + role.calls, 0);
  const spent = `${total(cell.roles, "input_tokens")} in, ${total(cell.roles, "output_tokens")} out`;
  const waited = `${cell.wall_seconds} s with all waiting, ${cell.retrieval_seconds} s retrieving`;
  const pairs = [
    ["latency", `${cell.latency_seconds} s`, waited],
    ["tokens", spent, `${counted(nCalls, "call")}, ${counted(cell.retrievals.length, "retrieval")}`],
    ["cost", cell.usd === null ? "unknown" : `$${cell.usd}`, notes.join(", ")],
  ];
  const drawn = pairs.map(([name, value, note]) =>
    make("div", "", make("dt", "", name), make("dd", "", value, " ", make("small", "", note))),
  );
  return make("dl", "explorer-facts-list", ...drawn);
}
