/* Recall by hop: a panel per retrieval mode, a line per strategy. */
arena.painters.hops = function (element) {
  const shared = arena.island("figures");
  const modes = Array.from(new Set(shared.hops.lines.map((line) => shared.cells[line.cell].mode)));
  if (element.children.length !== modes.length) {
    element.replaceChildren(
      ...modes.map((mode) => {
        const panel = arena.element("div", "panel-figure");
        panel.append(arena.element("h4", "", mode), arena.element("div", "plot"));
        return panel;
      }),
    );
  }
  modes.forEach((mode, place) => {
    const lines = shared.hops.lines.filter((line) => shared.cells[line.cell].mode === mode);
    const layout = arena.layout(280, {
      margin: { l: 44, r: 8, t: 8, b: 40 },
      xaxis: arena.axis(shared.hops.x, { dtick: 1 }),
      yaxis: arena.axis(place ? "" : shared.hops.y, { range: [-0.03, 1.03] }),
    });
    const step = 0.3 / Math.max(1, lines.length);
    const traces = lines.map((line, number) => arena.hopLine(line, shared, step * (number - (lines.length - 1) / 2)));
    arena.plot(element.children[place].querySelector(".plot"), traces, layout);
  });
};

/* `aside`: how far the line stands beside the hop, so that equal lines do not hide each other. */
arena.hopLine = function (line, shared, aside) {
  const cell = shared.cells[line.cell];
  const values = (key) => line.points.map((point) => point[key]);
  const reach = (point, end) => (end === null ? 0 : Math.abs(end - point.y));
  return {
    x: values("x").map((hop) => hop + aside),
    y: values("y"),
    mode: "lines+markers",
    line: { color: arena.hue(cell.hue), width: 1.75 },
    marker: { symbol: arena.symbolOrder[cell.hue], size: 8 },
    error_y: {
      symmetric: false,
      array: line.points.map((point) => reach(point, point.high)),
      arrayminus: line.points.map((point) => reach(point, point.low)),
      color: arena.hue(cell.hue),
      thickness: 0.75,
      width: 0,
    },
    hoverinfo: "text",
    hovertext: line.points.map((point) => `<b>${arena.label(cell.name)}</b><br>hop ${point.x}: ${arena.label(point.text)}`),
  };
};
