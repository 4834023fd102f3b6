const SVG = "http://www.w3.org/2000/svg";

/** Text does not have these control characters. */
const CONTROLS = /[\0-\x08\x0e-\x1a\x1c-\x1f]/;

/**
 * Decodes the beginning of a text in the encoding that its mark or its XML declaration says, otherwise UTF-8.
 * @param fatal whether each character must be right.
 * @returns null when the bytes are not such text.
 */
export function textOf(bytes: Uint8Array, { fatal = true } = {}): string | null {
  try {
    // `stream`: the last character may be cut in two.
    const text = new TextDecoder(encodingOf(bytes), { fatal }).decode(bytes, { stream: true });
    return fatal && CONTROLS.test(text) ? null : text;
  } catch {
    return null;
  }
}

/** Markup in an encoding of one byte that it does not say in the way of XML. @returns null when it does not look like markup. */
export function looseMarkup(bytes: Uint8Array): string | null {
  const text = Buffer.from(bytes).toString("latin1");
  return isMarkup(text) && !CONTROLS.test(text) ? text : null;
}

/** How "<?" and marks begin. Longer ones come first. */
const BEGINNINGS = [
  ["3c003f00", "utf-16le"],
  ["003c003f", "utf-16be"],
  ["fffe", "utf-16le"],
  ["feff", "utf-16be"],
  ["efbbbf", "utf-8"],
] as const;

function encodingOf(bytes: Uint8Array): string {
  const beginning = Buffer.from(bytes.subarray(0, 4)).toString("hex");
  for (const [start, encoding] of BEGINNINGS) if (beginning.startsWith(start)) return encoding;
  const start = Buffer.from(bytes.subarray(0, 200)).toString("latin1");
  const declared = /^\s*<\?xml\s[^>]*?\sencoding\s*=\s*["']([\w.:-]+)["']/.exec(start)?.[1] ?? "utf-8";
  // A declaration that can be read is not in UTF-16.
  return /^(utf-16|ucs-2|iso-10646-ucs-2)/i.test(declared) ? "utf-8" : declared;
}

/** Whether text begins like markup, whose first element may come later than the first bytes. */
export function isMarkup(text: string): boolean {
  return /^\ufeff?\s*</.test(text);
}

/**
 * Whether the first element of an XML document is that of an SVG. Nothing behind the name of that element is read, and entities
 * and a document type are not resolved. Faults of the XML do not matter: a browser that opens it may forgive them, too.
 */
export async function isSvg(text: string): Promise<boolean> {
  // Loaded with the first markup.
  const { SaxesParser } = await import("saxes");
  const parser = new SaxesParser({ position: false });
  const root: { prefix: string | null; isSvg: boolean | null } = { prefix: null, isSvg: null };
  const decide = (answer: boolean) => {
    root.isSvg ??= answer;
  };
  let faults = 0;
  parser.on("error", () => {
    if (++faults > MOST_FAULTS) decide(false);
  });
  parser.on("doctype", (type) => {
    if (/^\s*html\b/i.test(type)) decide(false);
  });
  for (const event of ["text", "cdata"] as const)
    parser.on(event, (content) => {
      if (content.trim() !== "") decide(false);
    });
  parser.on("opentagstart", ({ name }) => {
    if (/^[^:]+:svg$/.test(name)) root.prefix = name.slice(0, -":svg".length);
    else decide(/^svg$/i.test(name));
  });
  parser.on("attribute", ({ name, value }) => {
    if (name === `xmlns:${root.prefix ?? ""}`) decide(value === SVG);
  });
  parser.on("opentag", () => {
    decide(false);
  });
  const start = text.replace(/^\ufeff/, "").trimStart();
  for (let at = 0; at < start.length && root.isSvg === null; at += PART) parser.write(start.slice(at, at + PART));
  return root.isSvg ?? false;
}

/** An error costs more than the character that it is about, and each dash of a comment can be one. */
const MOST_FAULTS = 1_000;
/** Characters that are parsed at once, so that little behind the first element is. */
const PART = 1_024;
