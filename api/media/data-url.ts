/**
 * The bytes that a `data:` URL holds. The type that it claims is not read: types are told from bytes.
 * @returns null when it is malformed.
 */
export function readDataUrl(url: string): Uint8Array | null {
  const comma = url.indexOf(",");
  if (!/^data:/i.test(url) || comma === -1) return null;
  const payload = percentDecoded(url.slice(comma + 1).replace(/#.*$/s, ""));
  if (!/;\s*base64\s*$/i.test(url.slice(0, comma))) return payload;
  const text = payload.toString("latin1").replace(/[\t\n\f\r ]/g, "");
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text) || text.replace(/=+$/, "").length % 4 === 1) return null;
  return Buffer.from(text, "base64");
}

/** %-escapes become bytes; everything else stands for its UTF-8. */
function percentDecoded(text: string): Buffer {
  return Buffer.from(
    Buffer.from(text, "utf8")
      .toString("latin1")
      .replace(/%([0-9a-f]{2})/gi, (_escape, digits: string) => String.fromCharCode(Number.parseInt(digits, 16))),
    "latin1",
  );
}
