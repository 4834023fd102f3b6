import { fileTypeFromBuffer } from "file-type";

/** As many first bytes as telling the type takes. */
export const SNIFF_BYTES = 4_100;
/** What nobody can make anything of. */
export const UNKNOWN_TYPE = "application/octet-stream";

/**
 * The type of some content, told from its first bytes alone: whatever a server or a name claims about it may be a lie.
 * Texts that a browser could run (SVG, HTML) are told apart from plain ones.
 */
export async function sniffMediaType(head: Uint8Array): Promise<string> {
  const known = await fileTypeFromBuffer(head);
  // XML can be anything: SVG and XHTML among it.
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
  // Any other markup may hide the same further on.
  if (/<(svg|script|html|iframe)[\s>/]/i.test(text)) return known === undefined ? "text/html" : "application/xml";
  if (known !== undefined) return known.mime;
  return /^\s*[[{]/.test(text) && looksLikeJson(text) ? "application/json" : "text/plain; charset=utf-8";
}

/** The text that the bytes are in UTF-8 or UTF-16; null when they are none. */
function textOf(head: Uint8Array): string | null {
  const encoding =
    head[0] === 0xff && head[1] === 0xfe ? "utf-16le" : head[0] === 0xfe && head[1] === 0xff ? "utf-16be" : "utf-8";
  try {
    // `stream`: the last character may be cut in two.
    const text = new TextDecoder(encoding, { fatal: true }).decode(head, { stream: true });
    // Control characters that texts do not have.
    return /[\0-\x08\x0e-\x1a\x1c-\x1f]/.test(text) ? null : text;
  } catch {
    return null;
  }
}

/** Without what may stand before the first element: declarations, comments, processing instructions, a document type. */
function withoutPreamble(text: string): string {
  let rest = text.replace(/^\ufeff/, "").trimStart();
  for (;;) {
    const preamble = /^(<\?[^>]*>|<!--[\s\S]*?-->|<!doctype\s+svg[^>[]*(\[[^\]]*\])?\s*>)/i.exec(rest);
    if (preamble === null) return rest;
    rest = rest.slice(preamble[0].length).trimStart();
  }
}

/** The head of a long document need not end where its JSON does: only its beginning is looked at. */
function looksLikeJson(text: string): boolean {
  return /^\s*(\{\s*("|\}|$)|\[\s*(["[{\]\d\-tfn]|$))/.test(text);
}

/** Types that a browser shows without running anything of them. */
const HARMLESS = /^(image\/(?!svg)|video\/|audio\/|model\/|font\/|application\/json$|text\/plain)/;

export function isHarmless(type: string): boolean {
  return HARMLESS.test(type);
}

/** Markup that browsers run scripts of when they open it: shown as a picture at most. */
export function isPicture(type: string): boolean {
  return type.startsWith("image/");
}
