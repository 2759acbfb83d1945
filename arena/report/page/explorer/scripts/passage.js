/* The text of a document, fetched from the archive when it is asked for. */
function titleOf(document) {
  return document.title || document.id;
}

/* A button with the document's title; pressed, its text stands in what `place` adds to the page, and goes again. */
function passageButton(archive, document, span, place) {
  let shown = null;
  const made = button(foreign(titleOf(document)), async () => {
    made.setAttribute("aria-expanded", String(!shown));
    if (shown) {
      shown.remove();
      shown = null;
      return;
    }
    const box = make("div", "explorer-passage");
    box.tabIndex = 0;
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", "Text of the document");
    shown = place(box);
    const text = await archive.text(document.number);
    box.replaceChildren(...passage(text, span));
  }, "explorer-title");
  made.setAttribute("aria-expanded", "false");
  return made;
}

/* `span`: [start, end] of what was retrieved; null: all of it. */
function passage(text, span) {
  if (text === undefined) return [make("em", "", "The texts of documents had no room in this page.")];
  if (text === null) return [make("em", "", "The text of this document is not known any more.")];
  const [shown, left] = Array.isArray(text) ? text : [text, 0];
  if (!span) return [foreign(text)];
  const [start, end] = span;
  const note = remark(`Characters ${count(start)} to ${count(end)} of the document.`);
  const missing = Math.max(0, end - Math.max(shown.length, start));
  return [note, foreign(left && missing ? [shown.slice(start, end), missing] : shown.slice(start, end))];
}
