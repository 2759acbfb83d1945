"use strict";
const EVERY_MS = 2000;
const PATIENCE_MS = 30000;
const UNDEFINED = "\u2013";
const FIGURES = ["answer_f1", "answer_em", "retrieval_recall"];
const live = document.getElementById("live");
const byId = (id) => document.getElementById(id);
const whole = (number) => (number === null ? "unknown" : number.toLocaleString("en"));
let wait = EVERY_MS;

function cell(text, figure) {
  const place = document.createElement("td");
  place.textContent = text;
  if (figure) place.className = "figure";
  return place;
}

function figureText(one, name) {
  if (!(name in one.figures)) return UNDEFINED;
  const fake = one.fake && name.startsWith("answer_") ? " (fake model: says nothing)" : "";
  return one.figures[name].text + fake;
}

function row(one) {
  const line = document.createElement("tr");
  const counts = [one.failed, one.abstained, one.tokens, one.calls].map(whole);
  line.append(cell(one.name), cell(`${whole(one.done)} / ${whole(one.planned)}`, true));
  line.append(...FIGURES.map((name) => cell(figureText(one, name))));
  line.append(...counts.map((text) => cell(text, true)));
  return line;
}

function show(run) {
  byId("status").textContent = run.status;
  byId("status").className = `status ${run.status}`;
  byId("count").textContent = `${whole(run.done)} of ${whole(run.planned)} answers`;
  byId("bar").max = Math.max(run.planned, 1);
  byId("bar").value = run.done;
  byId("whole").textContent =
    `${whole(run.failed)} failed, ${whole(run.abstained)} abstained, ${whole(run.calls)} model calls, ` +
    `${whole(run.tokens)} tokens`;
  byId("again").hidden = run.status !== "stopped";
  byId("problem").textContent = run.problem ?? "";
  byId("cells").replaceChildren(...run.cells.map(row));
}

async function look() {
  try {
    const reply = await fetch(`/api/runs/${live.dataset.run}`);
    if (!reply.ok) throw new Error(reply.statusText);
    const run = await reply.json();
    show(run);
    wait = EVERY_MS;
    if (run.status === "finished") {
      window.location.reload();
      return;
    }
  } catch (error) {
    byId("problem").textContent = "The server does not answer; trying again.";
    wait = Math.min(2 * wait, PATIENCE_MS);
  }
  window.setTimeout(look, wait);
}

look();
