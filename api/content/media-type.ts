/** How many first bytes the detection needs. */
export const SNIFF_BYTES = 4_100;
/** The type of content that is not recognised. */
export const UNKNOWN_TYPE = "application/octet-stream";

/**
 * Detects the media type from the first bytes alone, because a server or a file name may claim a wrong type. Markup in which
 * a browser runs scripts (SVG, HTML) is distinguished from plain text.
 */
export async function sniffMediaType(head: Uint8Array): Promise<string> {
  // Loaded with the first content.
  const { fileTypeFromBuffer } = await import("file-type");
  const known = await fileTypeFromBuffer(head);
  // XML may be SVG or XHTML.
  if (known !== undefined && known.mime !== "application/xml") return known.mime;
  const text = textOf(head);
  if (text === null) return UNKNOWN_TYPE;
  const markup = withoutPreamble(text);
  if (/^<svg[\s>/]/i.test(markup)) return "image/svg+xml";
  if (
    /^<(!doctype html|html|head|body|script|iframe|style|title|meta|link|div|p|a|img|table|h1|br|b|font)[\s>/]/i.test(
      markup,
    )
  ) {
    return "text/html";
  }
  // Other markup may contain such elements further on.
  if (/<(svg|script|html|iframe)[\s>/]/i.test(text)) return known === undefined ? "text/html" : "application/xml";
  if (known !== undefined) return known.mime;
  return /^\s*[[{]/.test(text) && looksLikeJson(text) ? "application/json" : "text/plain; charset=utf-8";
}

/** Decodes UTF-8 or UTF-16. @returns null when the bytes are not text. */
function textOf(head: Uint8Array): string | null {
  const encoding =
    head[0] === 0xff && head[1] === 0xfe ? "utf-16le" : head[0] === 0xfe && head[1] === 0xff ? "utf-16be" : "utf-8";
  try {
    // `stream`: the last character may be cut in two.
    const text = new TextDecoder(encoding, { fatal: true }).decode(head, { stream: true });
    // Text has no such control characters.
    return /[\0-\x08\x0e-\x1a\x1c-\x1f]/.test(text) ? null : text;
  } catch {
    return null;
  }
}

/** Removes what may come before the first element: declarations, comments, processing instructions, a document type. */
function withoutPreamble(text: string): string {
  let rest = text.replace(/^\ufeff/, "").trimStart();
  for (;;) {
    const preamble = /^(<\?[^>]*>|<!--[\s\S]*?-->|<!doctype\s+svg[^>[]*(\[[^\]]*\])?\s*>)/i.exec(rest);
    if (preamble === null) return rest;
    rest = rest.slice(preamble[0].length).trimStart();
  }
}

/** Checks only the beginning, because the first bytes of a long document are incomplete JSON. */
function looksLikeJson(text: string): boolean {
  return /^\s*(\{\s*("|\}|$)|\[\s*(["[{\]\d\-tfn]|$))/.test(text);
}

/** Types in which a browser runs no scripts. */
const HARMLESS = /^(image\/(?!svg)|video\/|audio\/|model\/|font\/|application\/json$|text\/plain)/;

export function isHarmless(type: string): boolean {
  return HARMLESS.test(type);
}

/** Images. SVG is one: as an image it is harmless, but a browser that opens it as a document runs its scripts. */
export function isPicture(type: string): boolean {
  return type.startsWith("image/");
}
