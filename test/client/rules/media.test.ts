import { expect } from "chai";

import { describeMedia, faultOfMedia, type MediaUse } from "../../../client/rules/media.ts";

describe("faultOfMedia", () => {
  const used: [MediaUse, string[]][] = [
    ["image", ["image/png", "image/svg+xml", "video/mp4", "application/ogg", "application/mp4"]],
    ["animation_url", ["image/gif", "video/webm", "audio/mpeg", "audio/ogg; codecs=opus", "model/gltf-binary"]],
    [
      "animation_url",
      ["model/gltf+json", "text/html", "application/pdf", "application/zip", "application/octet-stream"],
    ],
    ["any", ["text/html", "application/json", "application/octet-stream"]],
  ];
  for (const [use, types] of used) {
    for (const type of types) {
      it(`takes ${type} as ${use}, unless it is empty`, () => {
        expect(faultOfMedia(use, { type, size: 1 })).to.equal(null);
        expect(faultOfMedia(use, { type, size: 0 })).to.equal("empty");
      });
    }
  }
  const refused: [MediaUse, string[]][] = [
    ["image", ["text/html", "audio/mpeg", "model/gltf-binary", "application/pdf", "application/json"]],
    ["image", ["text/plain; charset=utf-8", "application/octet-stream", "application/xml", "font/woff2"]],
    ["animation_url", ["application/json", "application/xml", "text/plain; charset=utf-8", "application/gzip"]],
  ];
  for (const [use, types] of refused) {
    for (const type of types) {
      it(`refuses ${type} as ${use}`, () => {
        const file = { type, size: 5 };
        const wanted = use === "image" ? "an image or a video" : "an image, a video, sound, a model or an HTML page";
        expect(faultOfMedia(use, file)).to.equal(`${describeMedia(file)}, not ${wanted}`);
      });
    }
  }

  it("says what a file is", () => {
    expect(describeMedia({ type: "text/html", size: 1_204 })).to.equal("an HTML page of 1,204 bytes");
    expect(describeMedia({ type: "audio/mpeg", size: 1 })).to.equal("sound (audio/mpeg) of 1 byte");
    expect(describeMedia({ type: "font/woff2", size: 2 })).to.equal("a file (font/woff2) of 2 bytes");
  });
});
