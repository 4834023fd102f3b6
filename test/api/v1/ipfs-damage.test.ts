import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect } from "chai";

import { walkBlocks } from "../../../api/content/content.ts";
import { collect } from "../../support/collect.ts";
import { HostedContent, refusalOf } from "../support/hosted-content.ts";
import { useApi } from "../support/use-api.ts";

describe("GET /ipfs, given corrupt blocks", () => {
  const api = useApi();
  let content: HostedContent;
  before(async () => {
    content = new HostedContent(api);
  });

  it("aborts a range that has a corrupt block, and serves the other ranges", async () => {
    const cid = await content.add(Buffer.alloc(3_000_000, "range"));
    const [, , second = ""] = (await collect(walkBlocks(api.blocks, cid, new Set()))).map((block) =>
      block.cid.toString(),
    );
    await writeFile(join(api.blocksFolder, second.slice(-3, -1), second), "something else");
    const part = (range: string) => fetch(`${api.baseUrl}/ipfs/${cid.toString()}`, { headers: { range } });
    const broken = await part("bytes=1000000-1100000");
    expect([broken.status, broken.headers.get("content-length")]).to.deep.equal([206, "100001"]);
    expect(await broken.arrayBuffer().catch(() => "broken off")).to.equal("broken off");
    expect(await refusalOf(await part("bytes=1048576-1048580"))).to.deep.equal([503, "unavailable"]);
    for (const range of ["bytes=0-9", "bytes=2097152-2097161"]) {
      const whole = await part(range);
      expect([whole.status, (await whole.arrayBuffer()).byteLength]).to.deep.equal([206, 10]);
    }
  });

  it("never sends a corrupt block, answers 503 where it can, and logs the block", async () => {
    const add = async (text: string) => {
      const cid = await content.add(Buffer.alloc(2_000_000, text));
      const blocks = await collect(walkBlocks(api.blocks, cid, new Set()));
      return { cid, names: blocks.map((block) => block.cid.toString()) };
    };
    const {
      cid,
      names: [, , second = ""],
    } = await add("xyz");
    const damage = (name: string) => writeFile(join(api.blocksFolder, name.slice(-3, -1), name), "something else");
    // The second block is corrupt, so the connection is closed in the middle.
    await damage(second);
    const broken = await content.fetchUnchecked(cid.toString());
    expect(broken.status).to.equal(200);
    expect(
      await broken.arrayBuffer().then(
        () => "complete",
        () => "broken off",
      ),
    ).to.equal("broken off");
    expect(api.log.join("")).to.contain(second);
    // The first block is corrupt, so nothing was sent yet. It is another file, because the service keeps blocks in memory.
    const other = await add("abc");
    const [, first = ""] = other.names;
    await damage(first);
    const answer = await content.fetch(other.cid.toString());
    expect(answer.headers.get("retry-after")).to.equal("60");
    // An error is not content, so it has no headers about caching, tags or ranges.
    expect(answer.headers.get("cache-control")).to.equal("no-store");
    for (const name of ["etag", "accept-ranges", "content-range", "content-disposition"]) {
      expect(answer.headers.get(name), name).to.equal(null);
    }
    expect(await refusalOf(answer)).to.deep.equal([503, "unavailable"]);
    expect(api.log.join("")).to.contain(first);
  });
});
