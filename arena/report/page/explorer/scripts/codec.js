/* Reads what `framing.py` and `columns.py` write: members, planes of digits, figures. */
const LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%,()*+-;.=/?@^_`{|}~";
const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const letterValues = valuesOf(LETTERS);
const digitValues = valuesOf(DIGITS);

function valuesOf(alphabet) {
  const values = new Uint8Array(128);
  Array.from(alphabet).forEach((letter, value) => {
    values[letter.charCodeAt(0)] = value;
  });
  return values;
}

/* The bytes of a line: five letters hold four bytes; a short last group counts as filled up with the last letter. */
function bytesOf(line) {
  const short = (5 - (line.length % 5)) % 5;
  const bytes = new Uint8Array(((line.length + short) / 5) * 4);
  for (let from = 0, to = 0; from < line.length; from += 5, to += 4) {
    let number = 0;
    for (let place = from; place < from + 5; place += 1) {
      number = number * 85 + (place < line.length ? letterValues[line.charCodeAt(place)] : 84);
    }
    bytes[to] = number >>> 24;
    bytes[to + 1] = number >>> 16;
    bytes[to + 2] = number >>> 8;
    bytes[to + 3] = number;
  }
  return bytes.subarray(0, bytes.length - short);
}

/* The JSON of a member. */
async function opened(line) {
  const stream = new Blob([bytesOf(line)]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

/* Integers from 0 up; -1 stands for None. */
function integers(planes) {
  const numbers = new Float64Array(planes.length ? planes[0].length : 0);
  let power = 1;
  for (const plane of planes) {
    for (let place = 0; place < numbers.length; place += 1) {
      numbers[place] += digitValues[plane.charCodeAt(place)] * power;
    }
    power *= 64;
  }
  return numbers.map((number) => number - 1);
}

function unzigzag(number) {
  return number % 2 ? -(number + 1) / 2 : number / 2;
}

/* Integers in which one mostly follows the other: each is written as what it adds to the one before plus one. */
function steps(planes) {
  let before = -1;
  return integers(planes).map((number) => {
    before += unzigzag(number) + 1;
    return before;
  });
}

/* Figures as text, with the digits that were kept and no others; null stands for None. */
function figures(column) {
  const powers = integers(column.e);
  return Array.from(integers(column.m), (whole, place) =>
    whole < 0 ? null : decimal(unzigzag(whole), unzigzag(powers[place])),
  );
}

/* `whole * 10 ** power` in plain digits: 328 and -4 are 0.0328. */
function decimal(whole, power) {
  const digits = String(Math.abs(whole));
  const sign = whole < 0 ? "-" : "";
  if (power >= 0) return sign + (whole ? digits + "0".repeat(power) : "0");
  const padded = digits.padStart(1 - power, "0");
  const text = `${padded.slice(0, power)}.${padded.slice(power)}`.replace(/\.?0+$/, "");
  return sign + text;
}

/* Where the rows of each owner begin: counts 2, 0, 3 are 0, 2, 2, 5. */
function offsets(counts) {
  const starts = [0];
  for (const count of counts) starts.push(starts[starts.length - 1] + count);
  return starts;
}
