import { expect } from "chai";

import { readRangeHeader } from "../../../api/v1/public/ipfs.ts";
import { HostedContent, refusalOf } from "../support/hosted-content.ts";
import { useApi } from "../support/use-api.ts";

describe("GET /ipfs with Range", () => {
  const api = useApi();
  let content: HostedContent;
  before(async () => {
    content = new HostedContent(api);
  });

  it("serves one range, and ignores ranges that RFC 9110 lets servers ignore", async () => {
    const cid = await content.add("0123456789");
    for (const [range, status, text, contentRange] of [
      ["bytes=2-4", 206, "234", "bytes 2-4/10"],
      ["bytes=7-", 206, "789", "bytes 7-9/10"],
      ["bytes=-2", 206, "89", "bytes 8-9/10"],
      ["bytes=8-100", 206, "89", "bytes 8-9/10"],
      ["bytes=-20", 206, "0123456789", "bytes 0-9/10"],
      ["bytes=0-1,4-5", 200, "0123456789", null],
      ["bytes=0-1,50-60", 200, "0123456789", null],
      ["bytes=5-2", 200, "0123456789", null],
      ["lines=1-2", 200, "0123456789", null],
      ["lines=20-30", 200, "0123456789", null],
    ] as const) {
      const answer = await content.fetch(cid.toString(), { headers: { range } });
      expect([answer.status, await answer.text(), answer.headers.get("content-range")], range).to.deep.equal([
        status,
        text,
        contentRange,
      ]);
    }
    for (const range of ["bytes=10-", "bytes=99-100", "bytes=-0"]) {
      const answer = await content.fetch(cid.toString(), { headers: { range } });
      expect(answer.headers.get("content-range"), range).to.equal("bytes */10");
      expect([answer.headers.get("etag"), answer.headers.get("cache-control")]).to.deep.equal([null, "no-store"]);
      expect(await refusalOf(answer), range).to.deep.equal([416, "range_not_satisfiable"]);
    }
    const other = await content.fetch(cid.toString(), { headers: { range: "bytes=0-1", "if-range": '"another"' } });
    expect([other.status, await other.text()]).to.deep.equal([200, "0123456789"]);
    const same = await content.fetch(cid.toString(), {
      headers: { range: "bytes=0-1", "if-range": `"${cid.toString()}"` },
    });
    expect([same.status, await same.text()]).to.deep.equal([206, "01"]);
  });

  it("serves a range across blocks", async () => {
    const large = Buffer.alloc(3_000_000, "abcdefghijk");
    const cid = await content.add(large);
    const answer = await content.fetch(cid.toString(), { headers: { range: "bytes=1048570-2097160" } });
    expect(Buffer.from(await answer.arrayBuffer()).equals(large.subarray(1_048_570, 2_097_161))).to.equal(true);
  });
});

describe("readRangeHeader", () => {
  it("ignores invalid headers", () => {
    for (const header of [
      undefined,
      "",
      "bytes=",
      "bytes=-",
      "bytes=a-b",
      "bytes=5-2",
      "bytes=1-2-3",
      `bytes=${"9".repeat(17)}-`,
    ]) {
      expect(readRangeHeader(header, 10), header).to.equal(null);
    }
    expect(readRangeHeader("bytes=0-", 0)).to.equal("unsatisfiable");
  });
});
