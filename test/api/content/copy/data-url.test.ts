import { expect } from "chai";

import { readDataUrl } from "../../../../api/content/copy/copy-media.ts";

describe("readDataUrl", () => {
  for (const [url, content] of [
    ["data:,", ""],
    ["DATA:,a%20b", "a b"],
    ["data:,%zz%", "%zz%"],
    ["data:,é", "é"],
    ["data:,a?b#fragment", "a?b"],
    ["data:text/plain;base64,YWI=", "ab"],
    ["data:;charset=utf-8;BASE64 ,YWI", "ab"],
    ["data:;base64,YW%49%3D", "ab"],
    ["data:;base64,Y W\nI", "ab"],
    ["data:;base64;charset=utf-8,YWI", "YWI"],
  ] as const) {
    it(`decodes ${JSON.stringify(url)}`, async () => {
      expect(Buffer.from((await readDataUrl(url)) ?? "null").toString()).to.equal(content);
    });
  }

  for (const url of [
    "data:",
    "data:text/plain",
    "data:#,a",
    "data:;base64,!!!",
    "data:;base64,Y",
    "data:;base64,YWI==",
    "data:;base64,YWJj=",
    "data:;base64,-_-_",
    "https://example.com/data:,a",
    "file:///etc/passwd",
  ]) {
    it(`refuses ${url}`, async () => {
      expect(await readDataUrl(url)).to.equal(null);
    });
  }
});
