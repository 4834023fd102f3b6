/**
 * Decodes a `data:` URL. Everything behind the first comma is data, as those who write SVG into it without escapes mean it: a
 * browser would end it at the first `#`. The media type that the URL claims is ignored: types are detected from the bytes.
 * @returns null when the URL is malformed.
 */
export function readDataUrl(url: string): Uint8Array | null {
  const [start, header] = /^data:([^,#]*),/i.exec(url) ?? [];
  if (start === undefined || header === undefined) return null;
  const data = url.slice(start.length);
  if (!/;\s*base64\s*$/i.test(header)) return unescaped(data);
  // Base64 has no `#`, so there it is a fragment.
  const text = Buffer.from(unescaped(data.replace(/#.*$/s, "")))
    .toString("latin1")
    .replace(/[\t\n\f\r ]/g, "");
  return BASE64.test(text) ? Buffer.from(text, "base64") : null;
}

/** The padding may be left out. */
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/;

/** A `%` that is not an escape stands for itself. */
function unescaped(text: string): Uint8Array {
  const bytes = Buffer.from(text)
    .toString("latin1")
    .replace(/%([0-9a-f]{2})/gi, (_escape, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
  return Buffer.from(bytes, "latin1");
}
