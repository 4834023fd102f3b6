import { expect } from "chai";

import { isHarmless, sniffMediaType } from "../../../api/content/media-type.ts";

const PNG = Buffer.from("89504e470d0a1a0a0000000d4948445200000001000000010806000000", "hex");

describe("sniffMediaType", () => {
  const cases: [string, string | Buffer, string, boolean][] = [
    ["PNG", PNG, "image/png", true],
    ["GIF that claims to be a script", "GIF89a/*", "image/gif", true],
    ["WebM", Buffer.from("1a45dfa39f4286810142f7810142f2810442f381084282847765626d", "hex"), "video/webm", true],
    ["PDF", "%PDF-1.7\n", "application/pdf", false],
    ["SVG", '<svg xmlns="http://www.w3.org/2000/svg"/>', "image/svg+xml", false],
    ["SVG with a declaration", '<?xml version="1.0"?>\n<!-- a > b -->\n<svg/>', "image/svg+xml", false],
    ["SVG with a document type", '<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "x">\n<SVG >', "image/svg+xml", false],
    ["SVG with entities", '<!DOCTYPE svg [<!ENTITY a "b">]><svg/>', "image/svg+xml", false],
    ["SVG behind a mark", "\ufeff  <svg>", "image/svg+xml", false],
    ["SVG in UTF-16", Buffer.from("\ufeff<svg>", "utf16le"), "image/svg+xml", false],
    ["HTML", "<!doctype html><title>x</title>", "text/html", false],
    ["HTML without a document type", "  <ScRiPt>alert(1)</script>", "text/html", false],
    ["HTML behind a comment", "<!-- hello --><body onload=alert(1)>", "text/html", false],
    ["HTML far behind text", `hello ${" ".repeat(2_000)}<script>alert(1)</script>`, "text/html", false],
    ["XML", '<?xml version="1.0"?><feed/>', "application/xml", false],
    ["XHTML", '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"/>', "text/html", false],
    ["JSON object", '{ "name": "cat" }', "application/json", true],
    ["JSON list", "[1]", "application/json", true],
    ["script", "alert(1)", "text/plain; charset=utf-8", true],
    ["text", "Grüße", "text/plain; charset=utf-8", true],
    ["text cut in a character", Buffer.from("Gr\u00fc").subarray(0, 3), "text/plain; charset=utf-8", true],
    ["nothing", "", "text/plain; charset=utf-8", true],
    ["bytes", Buffer.from([1, 2, 3, 0, 255]), "application/octet-stream", false],
  ];
  for (const [name, content, type, harmless] of cases) {
    it(`${name}: ${type}`, async () => {
      const found = await sniffMediaType(Buffer.from(content));
      expect({ type: found, harmless: isHarmless(found) }).to.deep.equal({ type, harmless });
    });
  }
});
