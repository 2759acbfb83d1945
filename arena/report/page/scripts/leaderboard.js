/* Sortable tables, and the filters of the leaderboard. */
arena.sortRows = function (table, column, descending) {
  const body = table.tBodies[0];
  const key = (row) => {
    const cell = row.cells[column];
    const quoted = cell.querySelector("[data-order]");
    if (quoted) return Number(quoted.dataset.order);
    return cell.querySelector("[data-path]") ? null : cell.textContent.trim();
  };
  const compare = (a, b) => {
    if (a === null || b === null) return (a === null) - (b === null);
    const order = typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
    return descending ? -order : order;
  };
  const rows = Array.from(body.rows).map((row) => ({ row, value: key(row) }));
  rows.sort((one, other) => compare(one.value, other.value));
  body.append(...rows.map((one) => one.row));
};

arena.makeSortable = function (table) {
  const headings = Array.from(table.tHead.rows[0].cells);
  headings.forEach((heading, column) => {
    const button = heading.querySelector("button");
    if (!button) return;
    button.addEventListener("click", () => {
      const first = heading.classList.contains("name") ? "ascending" : "descending";
      const other = first === "ascending" ? "descending" : "ascending";
      const direction = heading.getAttribute("aria-sort") === first ? other : first;
      headings.forEach((one) => one.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", direction);
      arena.sortRows(table, column, direction === "descending");
    });
  });
};

/* Writes the figure of a group of questions over that of all questions, which `whole` keeps. */
arena.showGroup = function (row, metrics, group, whole) {
  const place = row.dataset.place;
  Array.from(row.cells).slice(1).forEach((cell, column) => {
    const metric = metrics[column];
    if (!whole.has(cell)) whole.set(cell, Array.from(cell.childNodes));
    if (!group) {
      cell.replaceChildren(...whole.get(cell));
      return;
    }
    const figure = metric && group[place] ? group[place][metric] : null;
    const text = arena.element("span", "figure", figure ? figure[0] : "\u2013");
    if (figure) {
      text.dataset.path = figure[1];
      text.dataset.rule = figure[2];
      if (figure[3] !== null) text.dataset.order = figure[3];
    }
    cell.replaceChildren(text);
  });
};

{
  arena.all("table.sortable").forEach(arena.makeSortable);
  const table = document.getElementById("leaderboard-table");
  const filters = document.getElementById("leaderboard-filters");
  const shared = arena.island("figures");
  const whole = new Map();
  const choice = (name) => filters.elements[name].value;
  const apply = () => {
    const rows = Array.from(table.tBodies[0].rows);
    const group = choice("questions") ? shared.groups[choice("questions")] : null;
    const inGroup = (column) => !group || Object.values(group).some((cell) => shared.metrics[column] in cell);
    rows.forEach((row) => {
      const cell = shared.cells[Number(row.dataset.place)];
      row.hidden =
        (choice("strategy") && cell.strategy !== choice("strategy")) || (choice("mode") && cell.mode !== choice("mode"));
      arena.showGroup(row, shared.metrics, group, whole);
    });
    [table.tHead.rows[0], ...rows].forEach((row) =>
      Array.from(row.cells).slice(1).forEach((cell, column) => {
        cell.hidden = !inGroup(column);
      }),
    );
    const shown = rows.filter((row) => !row.hidden).length;
    filters.querySelector("output").textContent = `${shown} of ${rows.length} cells`;
  };
  filters.hidden = false;
  filters.addEventListener("change", apply);
  filters.addEventListener("submit", (event) => event.preventDefault());
  apply();
}
