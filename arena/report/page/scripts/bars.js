/* Stacked bars: what became of the questions, and what each role of the calls takes. A bar is a cell. */
arena.stack = function (element, cells, series, axisTitle) {
  const labels = cells.map((cell) => arena.cellLabel(cell));
  const places = cells.map((_, place) => place);
  const traces = series.map((one) => ({
    type: "bar",
    orientation: "h",
    name: arena.label(one.name),
    x: one.values,
    y: places,
    marker: { color: one.colour, pattern: arena.pattern(one) },
    hoverinfo: "text",
    hovertext: one.values.map((_, place) => `<b>${arena.label(cells[place].name)}</b><br>${arena.label(one.texts[place])}`),
  }));
  const columns = Math.max(1, Math.floor((element.clientWidth - 120) / 130));
  const legend = 20 * Math.ceil(series.length / columns);
  const layout = arena.layout(80 + legend + 32 * cells.length, {
    barmode: "stack",
    bargap: 0.28,
    showlegend: true,
    legend: arena.legendAbove(),
    margin: { l: 90, r: 14, t: 12 + legend, b: 44 },
    xaxis: arena.axis(axisTitle, {}),
    yaxis: arena.axis("", { autorange: "reversed", tickmode: "array", tickvals: places, ticktext: labels, tickfont: { size: 10.5 } }),
  });
  arena.plot(element, traces, layout);
};

arena.pattern = function (one) {
  return { shape: one.pattern, bgcolor: one.colour, fgcolor: arena.colour("--paper"), fgopacity: 0.7, size: 6, solidity: 0.25 };
};

arena.stageHues = {
  system: "--hue-7", controller: "--hue-6", retrieval: "--hue-1", reader: "--hue-3", form: "--hue-4", untold: "--muted",
  right: "--hue-2",
};

arena.painters.failures = function (element) {
  const shared = arena.island("figures");
  const cells = shared.failures.cells.map((place) => shared.cells[place]);
  const seen = {};
  const series = shared.failures.classes.map((one) => {
    seen[one.stage] = (seen[one.stage] ?? -1) + 1;
    const name = one.name.replaceAll("_", " ");
    return {
      name,
      values: one.counts,
      texts: one.counts.map((count) => `${name}: ${count}`),
      colour: arena.colour(arena.stageHues[one.stage]),
      pattern: arena.patterns[seen[one.stage] % arena.patterns.length],
    };
  });
  arena.stack(element, cells, series, "questions");
};

arena.painters.roles = function (element) {
  const shared = arena.island("figures");
  const select = document.getElementById("roles-measure");
  const bars = shared.roles.bars;
  const places = Array.from(new Set(bars.map((bar) => bar.cell)));
  const roles = Array.from(new Set(bars.map((bar) => bar.role)));
  const series = roles.map((role, number) => {
    const own = places.map((place) => bars.find((bar) => bar.cell === place && bar.role === role));
    return {
      name: role,
      values: own.map((bar) => (bar ? bar[select.value] : 0)),
      texts: own.map((bar) => (bar ? `${role}: ${bar.texts[select.value]}` : role)),
      colour: arena.hue(number),
      pattern: arena.patterns[Math.floor(number / 8) % arena.patterns.length],
    };
  });
  arena.stack(element, places.map((place) => shared.cells[place]), series, select.selectedOptions[0].textContent);
};

{
  const select = document.getElementById("roles-measure");
  if (select) {
    const figure = document.querySelector('[data-figure="roles"]');
    select.closest("form").hidden = false;
    select.addEventListener("change", () => arena.drawn.has(figure) && arena.paint(figure));
  }
}
