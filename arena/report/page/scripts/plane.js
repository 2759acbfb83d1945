/* Cost against quality: filled marks are on the front, hollow ones are beaten, and a line joins the front. */
arena.painters.plane = function (element) {
  const shared = arena.island("figures");
  const [quality, cost] = ["quality", "cost"].map((axis) => document.getElementById(`plane-${axis}`));
  const plane = shared.plane.planes.find((one) => one.quality === quality.value && one.cost === cost.value);
  if (!plane) {
    window.Plotly.purge(element);
    element.replaceChildren(arena.element("p", "note", "No cell has both of these."));
    return;
  }
  if (!element.querySelector(".plot-container")) element.replaceChildren();
  const name = (select) => select.selectedOptions[0].textContent;
  const costs = plane.points.map((point) => point.x);
  const wide = Math.min(...costs) > 0 && Math.max(...costs) > 20 * Math.min(...costs);
  const layout = arena.layout(440, {
    xaxis: arena.axis(name(cost), wide ? { type: "log", dtick: 1 } : { rangemode: "tozero" }),
    yaxis: arena.axis(name(quality), { rangemode: "tozero" }),
  });
  arena.plot(element, [arena.frontLine(plane), ...plane.points.map((point) => arena.planePoint(point, shared))], layout);
};

arena.frontLine = function (plane) {
  const front = plane.points.filter((point) => point.front).sort((a, b) => a.x - b.x || a.y - b.y);
  return {
    x: front.map((point) => point.x),
    y: front.map((point) => point.y),
    mode: "lines",
    line: { shape: "hv", color: arena.colour("--muted"), width: 1.5, dash: "dot" },
    hoverinfo: "skip",
  };
};

arena.planePoint = function (point, shared) {
  const cell = shared.cells[point.cell];
  const hue = arena.hue(cell.hue);
  const [value, cost, share] = point.texts;
  const standing = point.share === null ? "does not compete" : `on the front in ${share} of resamples`;
  const known = point.low !== null && point.high !== null;
  return {
    x: [point.x],
    y: [point.y],
    mode: "markers",
    marker: {
      symbol: `${arena.symbols[cell.shape]}${point.front ? "" : "-open"}`,
      size: point.front ? 13 : 11,
      color: hue,
      line: { width: point.front ? 1 : 2, color: point.front ? arena.colour("--paper") : hue },
    },
    error_y: {
      visible: known,
      symmetric: false,
      array: [Math.max(0, point.high - point.y)],
      arrayminus: [Math.max(0, point.y - point.low)],
      color: hue,
      thickness: 1,
      width: 0,
    },
    hoverinfo: "text",
    hovertext: [`<b>${arena.label(cell.name)}</b><br>${arena.label(value)} for ${arena.label(cost)}<br>${standing}`],
  };
};

{
  const axes = document.getElementById("plane-axes");
  const figure = document.querySelector('[data-figure="plane"]');
  if (axes) {
    const apply = () => {
      const key = `${axes.elements.quality.value}/${axes.elements.cost.value}`;
      arena.all("[data-plane]").forEach((one) => {
        one.hidden = one.dataset.plane !== key;
      });
      if (arena.drawn.has(figure)) arena.paint(figure);
    };
    axes.hidden = false;
    axes.addEventListener("change", apply);
    axes.addEventListener("submit", (event) => event.preventDefault());
    apply();
  }
}
