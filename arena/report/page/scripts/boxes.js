/* Seconds per question: a box from the 25th to the 75th percentile, whiskers to the 5th and the 95th. */
arena.painters.latency = function (element) {
  const shared = arena.island("figures");
  const boxes = shared.latency.boxes;
  const places = boxes.map((_, place) => place);
  const traces = boxes.map((box, place) => ({
    type: "box",
    orientation: "h",
    y: [place],
    q1: [box.p25],
    median: [box.p50],
    q3: [box.p75],
    lowerfence: [box.p5],
    upperfence: [box.p95],
    line: { color: arena.hue(shared.cells[box.cell].hue), width: 1.5 },
    fillcolor: arena.colour("--panel"),
    hoverinfo: "skip",
    width: 0.55,
  }));
  const widest = Math.max(...boxes.map((box) => box.p95));
  const least = Math.min(...boxes.map((box) => box.p5));
  const scale = least > 0 && widest > 50 * least ? { type: "log", dtick: 1 } : { rangemode: "tozero" };
  const layout = arena.layout(80 + 30 * boxes.length, {
    margin: { l: 90, r: 14, t: 8, b: 44 },
    xaxis: arena.axis("seconds per question", scale),
    yaxis: arena.axis("", {
      autorange: "reversed",
      tickmode: "array",
      tickvals: places,
      ticktext: boxes.map((box) => arena.cellLabel(shared.cells[box.cell])),
      tickfont: { size: 10.5 },
    }),
  });
  arena.plot(element, traces, layout);
};
