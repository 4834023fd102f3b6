/** A place in a text. Both count from 1; a column counts characters. */
interface Place {
  line: number;
  column: number;
}

/** Where a text stops being JSON, and why. */
interface JsonFault extends Place {
  /** Such as "expected a value, found `}`". It repeats at most a few characters of the text. */
  reason: string;
}

/** Most characters of the text that a reason repeats. */
const MOST_REPEATED = 10;

/** What may come next. */
type Next = "value" | "value or ]" | "name" | "name or }" | ":" | ", or ]" | ", or }" | "end";

const EXPECTED: Record<Next, string> = {
  value: "a value",
  "value or ]": "a value or `]`",
  name: "a field name in double quotes",
  "name or }": "a field name in double quotes, or `}`",
  ":": "`:` after the field name",
  ", or ]": "`,` or `]`",
  ", or }": "`,` or `}`",
  end: "nothing more after the end of the JSON value",
};

const SPACE = /[ \t\n\r]*/y;
const SCALAR = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.+-])/y;
/** Up to what ends a string, or is wrong in it. */
const PLAIN = /[^"\\\u0000-\u001f]*/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/**
 * Finds the first fault of a text that `JSON.parse` refuses. The parser's own message has it too, but its form differs
 * between versions, and it repeats more of the text.
 * @returns null when the text is JSON.
 */
export function faultOfJson(text: string): JsonFault | null {
  const open: ("[" | "{")[] = [];
  let place: Next = "value";
  let at = after(SPACE, text, 0);
  while (at < text.length) {
    const char = text[at] ?? "";
    const takesValue: boolean = place === "value" || place === "value or ]";
    const takesName: boolean = place === "name" || place === "name or }";
    if (char === '"' && (takesValue || takesName)) {
      const end = endOfString(text, at);
      if (typeof end !== "number") return faultAt(text, end.at, end.reason);
      at = end;
      place = takesName ? ":" : afterValue(open);
    } else if (takesValue && (char === "[" || char === "{")) {
      open.push(char);
      at += 1;
      place = char === "[" ? "value or ]" : "name or }";
    } else if ((char === "]" || char === "}") && place.endsWith(char)) {
      open.pop();
      at += 1;
      place = afterValue(open);
    } else if (char === "," && place.startsWith(",")) {
      at += 1;
      place = open.at(-1) === "[" ? "value" : "name";
    } else if (char === ":" && place === ":") {
      at += 1;
      place = "value";
    } else {
      const end = takesValue ? after(SCALAR, text, at) : at;
      if (end === at) break;
      at = end;
      place = afterValue(open);
    }
    at = after(SPACE, text, at);
  }
  return at === text.length && place === "end"
    ? null
    : faultAt(text, at, `expected ${EXPECTED[place]}, found ${foundAt(text, at)}${hintAt(text, at)}`);
}

/** What people write who do not know that JSON forbids it. */
function hintAt(text: string, at: number): string {
  if (/^\/[/*]/.test(text.slice(at, at + 2))) return ": JSON has no comments";
  const isEnd = text[at] === "}" || text[at] === "]";
  const before = text.slice(Math.max(0, at - LONGEST_INDENT), at).trimEnd();
  return isEnd && before.endsWith(",") ? ": remove the comma before it" : "";
}

/** White space before a bracket that is looked at. */
const LONGEST_INDENT = 100;

function afterValue(open: readonly ("[" | "{")[]): Next {
  const inner = open.at(-1);
  if (inner === undefined) return "end";
  return inner === "[" ? ", or ]" : ", or }";
}

/** @returns the position after the closing quote, or what is wrong in the string. */
function endOfString(text: string, start: number): number | { at: number; reason: string } {
  let at = after(PLAIN, text, start + 1);
  while (at < text.length) {
    if (text[at] === '"') return at + 1;
    if (text[at] !== "\\") return { at, reason: `${foundAt(text, at)} in a string must be written as an escape` };
    const end = after(ESCAPE, text, at);
    if (end === at) return { at, reason: `${foundAt(text, at, 2)} is not an escape of JSON` };
    at = after(PLAIN, text, end);
  }
  return { at: start, reason: "the string that begins here has no closing quote" };
}

/** @returns the position after what the pattern matches here. */
function after(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

function foundAt(text: string, at: number, length = 1): string {
  if (at >= text.length) return "the end of the text";
  const word = /^[\w.+-]+/.exec(text.slice(at, at + MOST_REPEATED))?.[0];
  const found =
    word ??
    Array.from(text.slice(at, at + 2 * length))
      .slice(0, length)
      .join("");
  return /^[!-~]+$/.test(found) ? `\`${found}\`` : `U+${codeOf(found)}`;
}

function codeOf(found: string): string {
  return (found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
}

function faultAt(text: string, at: number, reason: string): JsonFault {
  return { ...placeAt(text, at), reason };
}

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\]]/g;

/** Where the value of a field of the outermost object begins. @param text valid JSON @returns null when there is no such field */
export function placeOfField(text: string, field: string): Place | null {
  let depth = 0;
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    if (token === "{" || token === "[") depth += 1;
    else if (token === "}" || token === "]") depth -= 1;
    else if (depth === 1 && JSON.parse(token) === field) {
      const colon = after(SPACE, text, index + token.length);
      if (text[colon] === ":") return placeAt(text, after(SPACE, text, colon + 1));
    }
  }
  return null;
}

/** Without a list of the lines or the characters: the caller chooses how many there are. */
export function placeAt(text: string, at: number): Place {
  let [line, start] = [1, 0];
  for (let end = text.indexOf("\n"); end !== -1 && end < at; end = text.indexOf("\n", start)) {
    line += 1;
    start = end + 1;
  }
  let column = 1;
  for (let index = start; index < at; index++) {
    // The second half of a surrogate pair is not a character of its own.
    if ((text.charCodeAt(index) & 0xfc00) !== 0xdc00) column += 1;
  }
  return { line, column };
}
