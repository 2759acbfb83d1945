/* A question in the page's address: #q=ID&a=CELL&b=CELL. */
const ADDRESS = /^#q=/;

/* {question, a, b} as texts; null: the address is of something else. */
function addressed() {
  if (!ADDRESS.test(location.hash)) return null;
  const parts = new URLSearchParams(location.hash.slice(1).replaceAll("+", "%2B"));
  return { question: parts.get("q"), a: parts.get("a"), b: parts.get("b") };
}

function hashOf(question, a, b) {
  return `#q=${encodeURIComponent(question)}&a=${encodeURIComponent(a)}&b=${encodeURIComponent(b)}`;
}

function linkTo(hash) {
  return location.href.replace(/#.*$/s, "") + hash;
}
