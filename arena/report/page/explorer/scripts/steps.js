const NOTHING = "nothing";

/* Decisions, model calls, scores and verdicts of one cell. */
function decisions(archive, cell) {
  if (!cell.decisions.length) return [remark("It has no controller that decided anything.")];
  const headings = [["#", "number"], ["decision", "explorer-document"], ["score", "number"], ["threshold", "number"]];
  const body = cell.decisions.map((one, place) => [
    String(place + 1),
    decisionCell(archive, one, cell),
    one.score ?? DASH,
    [one.threshold ?? DASH, " ", one.origin && make("small", "", foreign(one.origin))],
  ]);
  return [grid("Decisions, in order", headings, body)];
}

/* What was decided, about what, on which judgement, and what it changed. */
function decisionCell(archive, decision, cell) {
  const made = make("div", "", foreign(decision.node), ": ", make("strong", "", foreign(decision.choice)));
  if (decision.document) {
    const about = passageButton(archive, decision.document, null, (box) => {
      made.append(box);
      return box;
    });
    made.append(make("div", "", about, " ", ...documentMarks(decision.document, cell)));
  }
  const notes = [
    decision.subject !== null && foreign(decision.subject),
    decision.tier !== null && `tier ${decision.tier}`,
    decision.changed === NOTHING ? "changed nothing" : make("em", "", `changed ${decision.changed}`),
    ...decision.parts.map((part) => `${wholeText(part.name)} ${part.value ?? DASH}`),
  ].filter(Boolean);
  made.append(make("small", "explorer-parts", ...notes.flatMap((note, place) => (place ? [", ", note] : [note]))));
  return made;
}

function calls(cell) {
  if (!cell.roles.length) return [remark("It asked no model.")];
  const numbers = ["calls", "in", "out", "seconds", "USD"].map((name) => [name, "number"]);
  const headings = [["role", "explorer-role"], ...numbers];
  const body = cell.roles.map((role) => [
    [foreign(role.role), " ", make("small", "explorer-parts", ...roleNotes(role))],
    known(role.calls),
    known(role.input_tokens, "unknown"),
    known(role.output_tokens, "unknown"),
    role.service_seconds ?? DASH,
    role.usd ?? DASH,
  ]);
  return [grid("Model calls by role", headings, body)];
}

function roleNotes(role) {
  const notes = [
    [role.retries, "retried"],
    [role.repairs, "repaired"],
    [role.failed, "failed"],
    [role.truncated, "cut off"],
    [role.replayed, "replayed"],
  ].filter(([n]) => n > 0);
  return [foreign(role.models), ...notes.map(([n, word]) => `, ${count(n)} ${word}`)];
}

/* Scores; those that this question or this cell has none of are folded away with their reasons. */
function scores(cell) {
  const pair = (one) => make("div", "", make("dt", "", nameText(one.metric)), make("dd", "", scoreText(one)));
  const listed = (some) => make("dl", "explorer-scores", ...some.map(pair));
  const valued = cell.scores.filter((one) => one.value !== null);
  const others = cell.scores.filter((one) => one.value === null);
  if (!others.length) return [listed(valued)];
  const rest = fold("explorer-setting", `${counted(others.length, "metric")} without a value`, listed(others));
  return [valued.length > 0 && listed(valued), rest];
}

function nameText(name) {
  return name.replaceAll("_", " ");
}

function scoreText(one) {
  if (one.value !== null) return one.value;
  const bounds = one.low === null ? "" : ` [${one.low}, ${one.high}]`;
  return make("small", "", nameText(wholeText(one.reason ?? "none")) + bounds);
}

function verdicts(cell) {
  return cell.verdicts.map((one) => {
    const value = one.value ?? nameText(wholeText(one.reason ?? "none"));
    const again = one.repeat > 0 ? `, time ${one.repeat + 1}` : "";
    const by = make("small", "", "by ", foreign(one.judge), again);
    const said = make("p", "", `${nameText(one.metric)}: ${value} `, by);
    const parts = one.parts.length > 0 && make("ul", "plain", ...one.parts.map(verdictPart));
    return make("div", "explorer-verdict", said, parts);
  });
}

function verdictPart(part) {
  const reason = part.reason && make("small", "", ": ", foreign(part.reason));
  return make("li", "", chip("", part.value ?? "not judged"), " ", foreign(part.name), reason);
}
