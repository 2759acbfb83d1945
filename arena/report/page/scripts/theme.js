/* Light and dark: the system's choice until the reader makes one. Figures are drawn again in the colours of the theme. */
arena.themeListeners = [];

arena.setTheme = function (theme) {
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
  arena.themeListeners.forEach((listener) => listener());
};

arena.isDark = function () {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
};

{
  const button = document.getElementById("theme");
  const name = () => {
    button.textContent = arena.isDark() ? "Light" : "Dark";
    button.setAttribute("aria-label", `Show the page in ${arena.isDark() ? "light" : "dark"} colours`);
  };
  button.hidden = false;
  button.addEventListener("click", () => arena.setTheme(arena.isDark() ? "light" : "dark"));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => arena.setTheme(null));
  arena.themeListeners.push(name);
  name();
}
