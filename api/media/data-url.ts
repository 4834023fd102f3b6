import { fetch } from "undici";

/**
 * Decodes a `data:` URL as the WHATWG Fetch standard says. The media type that the URL claims is ignored: types are
 * detected from the bytes.
 * @returns null when the URL is malformed.
 */
export async function readDataUrl(url: string): Promise<Uint8Array | null> {
  // Any other scheme would open a connection.
  if (!/^data:/i.test(url)) return null;
  try {
    const response = await fetch(url);
    return new Uint8Array(await response.arrayBuffer());
  } catch (error) {
    // How fetch reports a URL that it cannot decode.
    if (error instanceof TypeError) return null;
    throw error;
  }
}
