"use strict";
const dark = window.matchMedia("(prefers-color-scheme: dark)");
function follow() {
  document.documentElement.dataset.theme = dark.matches ? "dark" : "light";
}
dark.addEventListener("change", follow);
follow();
