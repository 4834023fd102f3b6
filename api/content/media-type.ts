import { isMarkup, isSvg, looseMarkup, textOf } from "./markup.ts";

/** How many first bytes the detection needs. */
const SNIFF_BYTES = 4_100;
/** How many of markup: its first element may come behind long comments, and behind a document type. */
const MARKUP_BYTES = 2 ** 19;
const XML = "application/xml";
const PLAIN = "text/plain; charset=utf-8";
/** The type of content that is not recognised. */
export const UNKNOWN_TYPE = "application/octet-stream";

/** Ends the name of a file, for programs that choose by it: `png` of `image/png`, `svg` of `image/svg+xml`. */
export function extensionOf(type: string | null): string {
  return /\/(?:x-)?([a-z0-9]{1,8})/.exec(type ?? "")?.[1] ?? "bin";
}

/**
 * Detects the media type from the first bytes alone, because a server or a file name may claim a wrong type. Markup in which
 * a browser runs scripts (SVG, HTML) is distinguished from plain text.
 */
export class TypeSniffer {
  readonly #parts: Uint8Array[] = [];
  #length = 0;
  #needed: number | null = null;

  /** Takes the next bytes. @returns whether more are needed. */
  take(part: Uint8Array): boolean {
    if (this.#length >= (this.#needed ?? SNIFF_BYTES)) return false;
    const rest = part.subarray(0, MARKUP_BYTES - this.#length);
    this.#parts.push(rest);
    this.#length += rest.length;
    if (this.#length < SNIFF_BYTES) return true;
    this.#needed ??= couldBeMarkup(this.#bytes(SNIFF_BYTES)) ? MARKUP_BYTES : SNIFF_BYTES;
    return this.#length < this.#needed;
  }

  async type(): Promise<string> {
    const head = this.#bytes(SNIFF_BYTES);
    // Loaded with the first content.
    const { fileTypeFromBuffer } = await import("file-type");
    const known = (await fileTypeFromBuffer(head))?.mime;
    // XML may be SVG or XHTML.
    if (known !== undefined && known !== XML) return typeOfImageContainer(head) ?? known;
    const exact = textOf(head);
    if (exact === null) {
      const markup = looseMarkup(head);
      return (markup === null ? null : typeOfPage(markup, known)) ?? UNKNOWN_TYPE;
    }
    if (!isMarkup(exact)) return typeOfPage(exact, known) ?? known ?? typeOfText(exact);
    const markup = textOf(this.#bytes(MARKUP_BYTES), { fatal: false }) ?? exact;
    if (await isSvg(markup)) return "image/svg+xml";
    return typeOfPage(markup, known) ?? known ?? PLAIN;
  }

  #bytes(most: number): Uint8Array {
    return Buffer.concat(this.#parts).subarray(0, most);
  }
}

/** Reads of a file what its type needs. */
export async function sniffMediaType(parts: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): Promise<string> {
  const sniffer = new TypeSniffer();
  for await (const part of parts) if (!sniffer.take(part)) break;
  return sniffer.type();
}

function couldBeMarkup(head: Uint8Array): boolean {
  const text = textOf(head);
  return text !== null && isMarkup(text);
}

/** The type of markup in which a browser runs scripts. */
function typeOfPage(text: string, known: string | undefined): string | null {
  if (
    /^<(!doctype html|html|head|body|script|iframe|style|title|meta|link|div|p|a|img|table|h1|br|b|font)[\s>/]/i.test(
      withoutPreamble(text),
    )
  ) {
    return "text/html";
  }
  // Other markup may contain such elements further on.
  if (/<(svg|script|html|iframe)[\s>/]/i.test(text)) return known === undefined ? "text/html" : XML;
  return null;
}

/** Removes what may come before the first element: declarations, comments, processing instructions, a document type. */
function withoutPreamble(text: string): string {
  let rest = text.replace(/^\ufeff/, "").trimStart();
  for (;;) {
    const preamble = /^(<\?[^>]*>|<!--[\s\S]*?-->|<!doctype\s+svg[^>[]*(\[[^\]]*\]\s*)?>)/i.exec(rest);
    if (preamble === null) return rest;
    rest = rest.slice(preamble[0].length).trimStart();
  }
}

function typeOfText(text: string): string {
  if (!looksLikeJson(text)) return PLAIN;
  const parts = new Set(text.match(GLTF));
  return parts.size >= 2 ? "model/gltf+json" : "application/json";
}

/** Checks only the beginning, because the first bytes of a long document are incomplete JSON. */
function looksLikeJson(text: string): boolean {
  return /^\s*(\{\s*("|\}|$)|\[\s*(["[{\]\d\-tfn]|$))/.test(text);
}

/** Names of a glTF model. A document with two of them is one. */
const GLTF = /"(asset|accessors|bufferViews|buffers|meshes|scenes|nodes|materials)"(?=\s*:)/g;

const AVIF = ["avif", "avis", "MA1A", "MA1B"];
const HEIC = ["heic", "heix", "heim", "heis", "hevc", "hevx", "hevm", "hevs"];
const HEIF = ["mif1", "mif2", "mif3", "1pic", "msf1", "miaf", ...AVIF, ...HEIC];

/**
 * AVIF and HEIC share a container. What is in it is said by its compatible brands: the first brand is often that of the container.
 * @returns null when it holds something else, such as a video.
 */
function typeOfImageContainer(head: Uint8Array): string | null {
  const bytes = Buffer.from(head);
  if (bytes.length < 16 || bytes.toString("latin1", 4, 8) !== "ftyp") return null;
  const end = Math.min(bytes.readUInt32BE(0), bytes.length - 3);
  const brands = [bytes.toString("latin1", 8, 12)];
  if (!HEIF.includes(brands[0] ?? "")) return null;
  for (let at = 16; at < end; at += 4) brands.push(bytes.toString("latin1", at, at + 4));
  if (brands.some((brand) => AVIF.includes(brand))) return "image/avif";
  return brands.some((brand) => HEIC.includes(brand)) ? "image/heic" : "image/heif";
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
