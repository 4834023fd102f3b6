import { expect } from "chai";

import { readDataUrl } from "../../../../api/content/copy/copy-media.ts";

describe("readDataUrl", () => {
  it("decodes what browsers decode", () => {
    for (const [url, content] of [
      ["data:,", ""],
      ["DATA:,a%20b", "a b"],
      ["data:,%zz%", "%zz%"],
      ["data:,é", "é"],
      ["data:,a?b#fragment", "a?b#fragment"],
      ["data:image/svg+xml;utf8,<svg fill='#f00' width='100%'/>", "<svg fill='#f00' width='100%'/>"],
      ["data:image/svg+xml;charset=utf-8,%3Csvg fill='%23f00'/%3E", "<svg fill='#f00'/>"],
      ["data:image/svg+xml,<svg\n\twidth='1'/>", "<svg\n\twidth='1'/>"],
      ["data:text/plain;base64,YWI=#fragment", "ab"],
      ["data:text/plain;base64,YWI=", "ab"],
      ["data:;charset=utf-8;BASE64 ,YWI", "ab"],
      ["data:;base64,YW%49%3D", "ab"],
      ["data:;base64,Y W\nI", "ab"],
      ["data:;base64;charset=utf-8,YWI", "YWI"],
    ] as const)
      expect(Buffer.from(readDataUrl(url) ?? "null").toString(), url).to.equal(content);
  });

  it("refuses all else", () => {
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
    ])
      expect(readDataUrl(url), url).to.equal(null);
  });
});
