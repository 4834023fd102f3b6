import { expect } from "chai";

import { sniffMediaType } from "../../api/content/media-type.ts";
import { cat, CATS } from "../../scripts/start/tour/pictures/cats.ts";
import { gem, paw } from "../../scripts/start/tour/pictures/emblems.ts";
import { dataUri } from "../../scripts/start/tour/pictures/picture.ts";

describe("the pictures of the tour", () => {
  const cats = Array.from({ length: CATS }, (_, number) => cat(number));
  const pictures = [...cats, gem("amethyst"), gem("sapphire"), paw()];

  it("are all different, and so are the attributes of the cats", () => {
    expect(new Set(pictures.map(({ svg }) => svg)).size).to.equal(pictures.length);
    expect(new Set(cats.map(({ attributes }) => JSON.stringify(attributes))).size).to.equal(CATS);
  });

  it("are small SVGs with a title, without scripts, fonts and links", async () => {
    for (const { svg } of pictures) {
      expect(svg.length).to.be.lessThan(3_000);
      expect(await sniffMediaType([Buffer.from(svg)])).to.equal("image/svg+xml");
      expect(svg).to.match(/^<svg [^>]*role="img"><title>A [a-z ,]+<\/title>/);
      expect(svg).not.to.match(/script|font|href|style|url\(|<text|\son\w+=|undefined|NaN/i);
    }
  });

  it("have URIs that hold the same bytes", async () => {
    for (const picture of pictures) expect(await (await fetch(dataUri(picture))).text()).to.equal(picture.svg);
  });

  it("are refused when their URI is too long for the service", () => {
    const long = { svg: "x".repeat(1_600), attributes: [] };
    expect(() => dataUri(long)).to.throw("A picture has a URI of 2162 characters.");
  });
});
