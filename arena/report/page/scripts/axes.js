/* What the figures share: colours, fonts, and text that Plotly must not take for markup. */
arena.symbols = {
  circle: "circle", square: "square", diamond: "diamond", cross: "x", star: "star",
  "triangle-up": "triangle-up", "triangle-down": "triangle-down", hexagon: "hexagon",
};
arena.symbolOrder = ["circle", "square", "diamond", "triangle-up", "triangle-down", "x", "star", "hexagon"];
arena.patterns = ["", "/", ".", "x", "\\", "-", "+", "|"];

/* A name as a label. Marks of direction and tags lose their power; a long name is cut. */
arena.label = function (text, longest) {
  const plain = String(text).replace(/[\u0000-\u001f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g, "");
  const letters = Array.from(plain);
  const most = longest || 48;
  const cut = letters.length > most ? `${letters.slice(0, most - 1).join("")}\u2026` : plain;
  return cut.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
};

/* A cell's name on two lines, for an axis. */
arena.cellLabel = function (cell) {
  const rest = cell.name.startsWith(cell.strategy) ? cell.name.slice(cell.strategy.length) : "";
  const lines = [cell.strategy, rest.replace(/^ \+ /, "").trim()].filter(Boolean);
  return lines.map((line) => arena.label(line, 26)).join("<br>");
};

arena.hue = function (number) {
  return arena.colour(`--hue-${number % 8}`);
};

arena.axis = function (title, more) {
  return {
    title: { text: title, font: { size: 12 }, standoff: 8 },
    gridcolor: arena.colour("--line"),
    linecolor: arena.colour("--line"),
    zerolinecolor: arena.colour("--line"),
    automargin: true,
    ...more,
  };
};

arena.layout = function (height, more) {
  const ink = arena.colour("--ink");
  const panel = arena.colour("--panel");
  return {
    height,
    margin: { l: 56, r: 14, t: 12, b: 48 },
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: "Inter, 'Segoe UI', 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif", size: 12, color: ink },
    hoverlabel: { bgcolor: panel, bordercolor: arena.colour("--muted"), font: { color: ink, size: 12 }, align: "left" },
    hovermode: "closest",
    dragmode: false,
    showlegend: false,
    ...more,
  };
};

arena.legendAbove = function () {
  return { orientation: "h", x: 0, xanchor: "left", y: 1.0, yanchor: "bottom", font: { size: 11 }, traceorder: "normal" };
};
