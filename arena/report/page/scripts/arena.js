"use strict";
/* What the page's scripts share. Text from the run only ever becomes text: textContent, never markup. */
const arena = {};

/* The text that is packed as base64 of gzip. */
arena.inflated = async function (packed) {
  const bytes = Uint8Array.from(atob(packed), (one) => one.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
};

/* The JSON that the element holds. */
arena.island = function (elementId) {
  return JSON.parse(document.getElementById(elementId).textContent);
};

/* An element with text in it. */
arena.element = function (name, className, text) {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text !== undefined && text !== null) made.textContent = text;
  return made;
};

arena.all = function (selector, within) {
  return Array.from((within || document).querySelectorAll(selector));
};

/* The colour that a variable of the style has in the theme shown, as in arena.colour("--ink"). */
arena.colour = function (name) {
  const probe = arena.element("span");
  probe.hidden = true;
  probe.style.setProperty("color", `var(${name})`);
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
};

/* A choice of the element `select`, told to `heard` now and whenever it changes. */
arena.onChoice = function (select, heard) {
  select.addEventListener("change", () => heard(select.value));
  heard(select.value);
};
