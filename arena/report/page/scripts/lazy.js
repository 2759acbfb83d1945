/* Plotly is unpacked once the page stands, and each figure drawn when it comes into sight. */
arena.painters = {};
arena.drawn = new Set();

arena.plotly = function () {
  if (!arena.loading) {
    arena.loading = arena.inflated(document.getElementById("plotly").textContent.trim()).then((source) => {
      arena.withoutMaps(source);
      const script = document.createElement("script");
      script.textContent = source;
      document.head.append(script);
      return window.Plotly;
    });
  }
  return arena.loading;
};

/* Plotly adds a style sheet for maps unless one of its id is there. This page has no maps and allows no such sheet. */
arena.withoutMaps = function (source) {
  for (const found of source.matchAll(/getElementById\("([0-9a-f]{64})"\)/g)) {
    const sheet = document.createElement("style");
    sheet.id = found[1];
    document.head.append(sheet);
  }
};

arena.paint = function (figure) {
  if (!window.Plotly) return;
  arena.drawn.add(figure);
  arena.painters[figure.dataset.figure](figure, window.Plotly);
  figure.dataset.drawn = "yes";
};

arena.paintAll = function () {
  arena.all("[data-figure]").forEach(arena.paint);
};

arena.plot = function (element, traces, layout) {
  const options = { displayModeBar: false, responsive: true, staticPlot: false, scrollZoom: false };
  return window.Plotly.react(element, traces, layout, options);
};

{
  const watcher = new IntersectionObserver(
    (entries) =>
      entries
        .filter((entry) => entry.isIntersecting)
        .forEach((entry) => {
          watcher.unobserve(entry.target);
          arena.plotly().then(() => arena.paint(entry.target));
        }),
    { rootMargin: "300px" },
  );
  const begin = () => arena.all("[data-figure]").forEach((figure) => watcher.observe(figure));
  const soon = window.requestIdleCallback || ((work) => setTimeout(work, 200));
  requestAnimationFrame(() => setTimeout(begin, 0));
  window.addEventListener("load", () => soon(() => arena.plotly()));
  arena.themeListeners.push(() => arena.drawn.forEach(arena.paint));
}
