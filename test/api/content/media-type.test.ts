import { expect } from "chai";

import { isHarmless, sniffMediaType } from "../../../api/content/media-type.ts";

const SVG_NS = 'xmlns="http://www.w3.org/2000/svg"';
const XML = '<?xml version="1.0"?>';
const LONG = `<!-- ${"a licence - ".repeat(20_000)} -->`;
const PNG = Buffer.from("89504e470d0a1a0a0000000d4948445200000001000000010806000000", "hex");

/** A file that begins with a box of brands, as AVIF, HEIC and MP4 do. */
function brands(first: string, ...others: string[]): Buffer {
  const box = Buffer.from(["ftyp", first, "\0\0\0\0", ...others].join(""), "latin1");
  const size = Buffer.alloc(4);
  size.writeUInt32BE(box.length + 4);
  return Buffer.concat([size, box, Buffer.from("0000001c6d65746100000000", "hex")]);
}

function latin1(text: string): Buffer {
  return Buffer.from(text, "latin1");
}

function bigEndian(text: string): Buffer {
  return Buffer.from(text, "utf16le").swap16();
}

describe("sniffMediaType", () => {
  const cases: [string, string | Buffer, string, boolean][] = [
    ["PNG", PNG, "image/png", true],
    ["GIF that claims to be a script", "GIF89a/*", "image/gif", true],
    ["WebM", Buffer.from("1a45dfa39f4286810142f7810142f2810442f381084282847765626d", "hex"), "video/webm", true],
    ["PDF", "%PDF-1.7\n", "application/pdf", false],
    ["SVG", '<svg xmlns="http://www.w3.org/2000/svg"/>', "image/svg+xml", false],
    ["SVG with a declaration", '<?xml version="1.0"?>\n<!-- a > b -->\n<svg/>', "image/svg+xml", false],
    ["SVG with a document type", '<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "x">\n<SVG >', "image/svg+xml", false],
    // With a pattern that tries each space twice, this takes minutes.
    ["document type that never ends", `<!doctype svg${" ".repeat(500_000)}`, "text/plain; charset=utf-8", true],
    ["SVG with entities", '<!DOCTYPE svg [<!ENTITY a "b">]><svg/>', "image/svg+xml", false],
    ["SVG behind a mark", "\ufeff  <svg>", "image/svg+xml", false],
    ["SVG in UTF-16", Buffer.from("\ufeff<svg>", "utf16le"), "image/svg+xml", false],
    ["SVG with a prefix", `${XML}<svg:svg xmlns:svg="http://www.w3.org/2000/svg"/>`, "image/svg+xml", false],
    ["SVG with a prefix, late", `<a:svg width="1" xmlns:a='http://www.w3.org/2000/svg'>`, "image/svg+xml", false],
    ["prefix of something else", `${XML}<a:svg xmlns:a="urn:a" ${SVG_NS}/>`, "application/xml", false],
    ["prefix of nothing", `${XML}<a:svg/>`, "application/xml", false],
    ["SVG in Latin-1", latin1(`<?xml version="1.0" encoding="ISO-8859-1"?><!-- é --><svg/>`), "image/svg+xml", false],
    ["SVG in Windows-1252", latin1(`<?xml version='1.0' encoding='windows-1252'?><svg a="é">`), "image/svg+xml", false],
    ["SVG in Latin-1 that does not say so", latin1("<!-- é --><svg/>"), "text/html", false],
    ["SVG in UTF-16, big-endian", bigEndian(`\ufeff${XML}<svg/>`), "image/svg+xml", false],
    ["SVG in UTF-16 without a mark", Buffer.from(`${XML}<svg/>`, "utf16le"), "image/svg+xml", false],
    ["SVG that says UTF-16 and is not", '<?xml version="1.0" encoding="utf-16"?><svg/>', "image/svg+xml", false],
    ["SVG behind a long comment", `${XML}${LONG}<svg ${SVG_NS}/>`, "image/svg+xml", false],
    [
      "SVG behind a comment with lines of dashes",
      `<!-- ${"-".repeat(200)} --><svg ${SVG_NS}/>`,
      "image/svg+xml",
      false,
    ],
    ["SVG behind a long comment, no XML declaration", `${LONG}<svg ${SVG_NS}/>`, "image/svg+xml", false],
    ["HTML behind a long comment", `${LONG}<html><svg/>`, "text/html", false],
    [
      "SVG behind a document type of many lines",
      `${XML}<!DOCTYPE svg PUBLIC "-//W3C" "x" [\n<!-- ]> don't -->\n<!ENTITY ns "${"a".repeat(9_000)}>">\n]>\n<?css?>\n<svg a="&ns;">`,
      "image/svg+xml",
      false,
    ],
    ["HTML with the element of SVG first", "<!DOCTYPE html><svg/>", "text/html", false],
    ["text before SVG", `hello <svg ${SVG_NS}/>`, "text/html", false],
    ["SVG inside another element", `${XML}<feed><svg ${SVG_NS}/></feed>`, "application/xml", false],
    ["SVG with a script", `<svg ${SVG_NS}><script>alert(1)</script></svg>`, "image/svg+xml", false],
    ["SVG in UTF-7", '<?xml version="1.0" encoding="utf-7"?>+ADw-svg+AD4-', "application/octet-stream", false],
    ["HTML in Latin-1", latin1("<html><title>Café</title>"), "text/html", false],
    ["AVIF", brands("avif", "avif", "mif1", "miaf", "MA1B"), "image/avif", true],
    ["AVIF whose first brand is the container", brands("mif1", "miaf", "avif"), "image/avif", true],
    ["AVIF, animated", brands("avis", "msf1", "avif"), "image/avif", true],
    ["AVIF with a profile only", brands("mif1", "miaf", "MA1A"), "image/avif", true],
    ...["heic", "heix", "heim", "heis", "hevc", "hevx"].flatMap((brand): [string, Buffer, string, boolean][] => [
      [`HEIC, ${brand}`, brands(brand, "mif1"), "image/heic", true],
      [`HEIC, mif1 with ${brand}`, brands("mif1", brand), "image/heic", true],
    ]),
    ["HEIC whose first brand is that of one picture", brands("1pic", "mif1", "heic"), "image/heic", true],
    ["HEIF of no known codec", brands("mif1", "miaf"), "image/heif", true],
    ["MP4", brands("isom", "iso2", "mp41"), "video/mp4", true],
    ["MP4 that names the container of images", brands("mp42", "mif1", "heic"), "video/mp4", true],
    ["M4V", brands("M4V ", "mp42"), "video/x-m4v", true],
    ["QuickTime", brands("qt  "), "video/quicktime", true],
    ["brands that are cut off", brands("mif1", "miaf", "avif").subarray(0, 26), "image/avif", true],
    ["glTF", '{ "asset": { "version": "2.0" }, "scenes": [] }', "model/gltf+json", true],
    ["JSON with one such name", '{ "name": "x", "asset": "y" }', "application/json", true],
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
      const found = await sniffMediaType([Buffer.from(content)]);
      expect({ type: found, harmless: isHarmless(found) }).to.deep.equal({ type, harmless });
    });
  }

  it("reads the same whatever the size of the parts", async () => {
    const file = Buffer.from(`${XML}${LONG}<svg ${SVG_NS}/>`);
    const parts = Array.from({ length: Math.ceil(file.length / 7) }, (_, n) => file.subarray(n * 7, n * 7 + 7));
    expect(await sniffMediaType(parts)).to.equal("image/svg+xml");
  });

  it("reads no more than the type needs", async () => {
    const read = async (first: string) => {
      let bytes = 0;
      const source = function* () {
        for (let next = first; bytes < 64 * 2 ** 20; next = "x".repeat(65_536)) {
          bytes += next.length;
          yield Buffer.from(next);
        }
      };
      return { type: await sniffMediaType(source()), bytes };
    };
    expect((await read("<svg><!-- ")).bytes).to.be.at.most(2 ** 19 + 65_536);
    expect((await read("<!-- ")).type).to.equal("text/plain; charset=utf-8");
    expect((await read("hello")).bytes).to.be.below(100_000);
  });

  describe("given markup that is made to cost much", () => {
    const bomb = Array.from(
      { length: 9 },
      (_, n) => `<!ENTITY l${(n + 1).toString()} "${`&l${n.toString()};`.repeat(10)}">`,
    );
    for (const [name, content, type] of [
      ["entities that multiply", `<!DOCTYPE svg [<!ENTITY l0 "lol">${bomb.join("")}]><svg>&l9;</svg>`, "image/svg+xml"],
      ["a million elements in each other", `<svg>${"<g>".repeat(1_000_000)}`, "image/svg+xml"],
      ["a million other elements in each other", `${XML}${"<x>".repeat(1_000_000)}`, "application/xml"],
      ["a comment of 16 MiB", `${XML}<!--${"-".repeat(16 * 2 ** 20)}--><svg/>`, "application/xml"],
      [
        "an attribute of 10 MB",
        `${XML}<a:svg b="${"x".repeat(10_000_000)}" xmlns:a="http://www.w3.org/2000/svg"/>`,
        "application/xml",
      ],
      [
        "a document type that never ends",
        `<!DOCTYPE svg [${"<!ENTITY a 'b'>".repeat(100_000)}`,
        "text/plain; charset=utf-8",
      ],
      ["a million comments", `${"<!---->".repeat(1_000_000)}<svg/>`, "text/plain; charset=utf-8"],
      ["a million instructions", `${"<?a?>".repeat(1_000_000)}<svg/>`, "text/plain; charset=utf-8"],
      ["a million attributes", `<a:svg ${"a='' ".repeat(1_000_000)}/>`, "text/plain; charset=utf-8"],
    ] as const) {
      it(`${name}: ${type}`, async () => {
        expect(await sniffMediaType([Buffer.from(content)])).to.equal(type);
      }).timeout(10_000);
    }
  });
});
