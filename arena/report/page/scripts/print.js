/* On paper: light colours, every figure drawn, every table unfolded; afterwards as it was. */
{
  let before = null;
  window.addEventListener("beforeprint", () => {
    const folded = arena.all("details.printed:not([open])");
    before = { theme: document.documentElement.dataset.theme, folded };
    folded.forEach((one) => {
      one.open = true;
    });
    arena.setTheme("light");
    arena.paintAll();
    if (window.Plotly) arena.all(".js-plotly-plot").forEach((plot) => window.Plotly.relayout(plot, { width: 660, autosize: false }));
  });
  window.addEventListener("afterprint", () => {
    if (!before) return;
    before.folded.forEach((one) => {
      one.open = false;
    });
    arena.setTheme(before.theme || null);
    if (window.Plotly) arena.all(".js-plotly-plot").forEach((plot) => window.Plotly.relayout(plot, { width: null, autosize: true }));
    before = null;
  });
}
