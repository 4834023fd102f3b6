import { expect } from "chai";

import { sniffMediaType } from "../../api/content/media-type.ts";
import { cat, CATS, dataUri, gem } from "../../scripts/start/tour/pictures.ts";

describe("the pictures of the tour", () => {
  const cats = Array.from({ length: CATS }, (_, number) => cat(number));
  const pictures = [...cats, gem()];

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

  it("have URIs that hold the same bytes and are short enough for the service", async () => {
    for (const picture of pictures) {
      expect(await (await fetch(dataUri(picture))).text()).to.equal(picture.svg);
      expect(dataUri(picture).length).to.be.at.most(2_048);
    }
  });
});
