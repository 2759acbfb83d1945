/* Elements, and the run's texts in them: only as text, set apart from the text around, control characters shown. */
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu;
const DASH = "\u2013";

/* An element; `content` are texts of the page's own, and elements. Null and false are left out. */
function make(name, classes, ...content) {
  const made = document.createElement(name);
  if (classes) made.className = classes;
  made.append(...content.flat().filter((one) => one !== null && one !== undefined && one !== false));
  return made;
}

/* A text of the run: whole, or [its beginning, how many characters were left out]. */
function foreign(text, classes = "") {
  const [shown, left] = Array.isArray(text) ? text : [text, 0];
  const made = make("bdi", `explorer-text ${classes}`.trim());
  made.dir = "auto";
  let from = 0;
  for (const found of shown.matchAll(CONTROLS)) {
    made.append(shown.slice(from, found.index), control(found[0]));
    from = found.index + found[0].length;
  }
  made.append(shown.slice(from));
  if (left) made.append(make("span", "explorer-cut", ` [${count(left)} more characters are not in this page]`));
  return made;
}

function control(character) {
  const code = `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
  const made = make("span", "explorer-control", code);
  made.title = "a control character of the text";
  return made;
}

/* The beginning of a text, whole or cut, for where there is no room for more. */
function beginning(text, characters) {
  const whole = Array.isArray(text) ? text[0] : text;
  return whole.length > characters ? `${whole.slice(0, characters)}\u2026` : whole;
}

function chip(kind, text) {
  return make("span", `explorer-chip ${kind}`, text);
}

function button(text, pressed, classes = "") {
  const made = make("button", classes, text);
  made.type = "button";
  made.addEventListener("click", pressed);
  return made;
}

/* A table; a heading is a text, or [text, class of its column]. Rows are elements, or lists of what stands in them. */
function grid(caption, headings, body) {
  const classes = headings.map((one) => (Array.isArray(one) ? one[1] : ""));
  const head = headings.map((one, place) => {
    const cell = make("th", classes[place], Array.isArray(one) ? one[0] : one);
    cell.scope = "col";
    return cell;
  });
  const drawn = body.map((row) =>
    row instanceof Element ? row : make("tr", "", ...row.map((content, place) => make("td", classes[place], content))),
  );
  const made = make(
    "table",
    "",
    make("caption", "visually-hidden", caption),
    make("thead", "", make("tr", "", head)),
    make("tbody", "", drawn),
  );
  const scroll = make("div", "scroll", made);
  scroll.tabIndex = 0;
  scroll.setAttribute("role", "group");
  scroll.setAttribute("aria-label", caption);
  return scroll;
}

/* A sentence in small print. */
function remark(...content) {
  return make("p", "explorer-note", ...content);
}

/* What is folded away under a summary. */
function fold(classes, summary, ...content) {
  return make("details", classes, make("summary", "", summary), ...content);
}

function count(number) {
  return number.toLocaleString("en-US");
}

function counted(number, noun) {
  return `${count(number)} ${noun}${number === 1 ? "" : "s"}`;
}

/* An integer of a column, where -1 is None. */
function known(number, unknown = DASH) {
  return number < 0 ? unknown : count(number);
}
