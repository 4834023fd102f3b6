import { rm, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect } from "chai";

import type { Examination } from "../../../api/checks/examine.ts";
import { BlockFiles } from "../../../api/content/block-files.ts";
import { collect } from "../../support/collect.ts";
import { rejectionOf } from "../../support/rejection.ts";
import { useService } from "../../support/use-service.ts";
import { jsonOfCli, runCli } from "./support/run.ts";

describe("command line: hosted media", () => {
  // The tests list and damage all files, and give them another age.
  const moneta = useService({ per: "test", settings: { MEDIA_STORE: "files" } });
  const { api } = moneta;
  let blocks: BlockFiles;

  beforeEach(() => {
    blocks = new BlockFiles(join(moneta.folder, "blocks"));
  });

  const fileOf = (cid: string) => join(moneta.folder, "blocks", cid.slice(-3, -1), cid);
  const blockNames = async () => (await collect(blocks.all())).map(({ cid }) => cid.toString()).sort();
  const age = async () => {
    const old = new Date(Date.now() - 8 * 24 * 3_600_000);
    for (const name of await blockNames()) await utimes(fileOf(name), old, old);
  };
  const json = <T>(...words: string[]) => jsonOfCli<T>(moneta.env, ...words);
  /** What doctor finds about media. */
  const media = async (...options: string[]) => {
    const { findings } = await json<Examination>("doctor", ...options);
    return findings.filter(({ check }) => check === "media").map(({ result, words }) => [result, words]);
  };
  /** Mints a token with a copied picture. @returns its CID. */
  const mint = async (collection: string, picture: string): Promise<string> => {
    const image = `data:,GIF89a${picture}`;
    const to = await api.wallet();
    const { nft_token_id: id } = await api.completed("/v1/nfts", {
      collection_address: collection,
      to_address: to,
      image,
      copy_media: true,
    });
    const metadata = await api.ok<{ image: string }>("GET", `/metadata/31337/${collection}/${String(id)}`);
    return metadata.image.replace("ipfs://", "");
  };

  it("collects only blocks that no metadata refers to", async () => {
    const collection = await api.collection({ type: "ERC721" });
    const [kept, replaced, shared] = [
      await mint(collection, "kept"),
      await mint(collection, "replaced"),
      await mint(collection, "twice"),
    ];
    expect(await mint(collection, "twice")).to.equal(shared);
    await age();
    const young = await mint(collection, "young");
    for (const token of [2, 3, 5]) {
      const answer = await api.send<{ request_id: string }>(
        "PATCH",
        `/v1/collections/${collection}/${token.toString()}`,
        { image: null },
      );
      await api.settled(answer.body.request_id);
    }
    // Nothing refers to it any more, but it was stored just now.
    expect(await json("media", "collect")).to.deep.equal({
      kept: 3,
      removed: 1,
      removed_bytes: "GIF89areplaced".length,
    });
    expect(await blockNames()).to.deep.equal([kept, shared, young].sort());
    expect((await fetch(`${moneta.baseUrl}/ipfs/${replaced}`)).status).to.equal(404);
    expect((await fetch(`${moneta.baseUrl}/ipfs/${shared}`)).status).to.equal(200);
    expect(await json("media", "collect", "--older-than", "0")).to.include({ removed: 1 });
    expect(await blockNames()).to.deep.equal([kept, shared].sort());
  });

  it("keeps every block of frozen metadata", async () => {
    const collection = await api.collection({ type: "ERC721" });
    await mint(collection, "cat");
    expect(await api.settled(await api.accept(`/v1/collections/${collection}/freeze`, {}))).to.include({
      status: "completed",
    });
    await age();
    const before = await blockNames();
    expect(await json("media", "collect", "--older-than", "0")).to.deep.equal({
      kept: before.length,
      removed: 0,
      removed_bytes: 0,
    });
    // The picture, the token's and the collection's metadata, their directory.
    expect(before).to.have.length(4);
  });

  describe("doctor", () => {
    it("lists missing files without reading the others", async () => {
      const collection = await api.collection({ type: "ERC721" });
      const [missing, corrupt] = [await mint(collection, "missing"), await mint(collection, "corrupt")];
      expect(await media()).to.deep.equal([["ok", "2 hosted files exist (--media also reads the content)"]]);
      await rm(fileOf(missing));
      await writeFile(fileOf(corrupt), "other");
      const [found, ...others] = await media();
      expect(others).to.deep.equal([]);
      expect(found?.[0]).to.equal("problem");
      expect(found?.[1]).to.match(new RegExp(`^Missing: ipfs://${missing}\\. Restore`));
    });
  });

  describe("doctor --media", () => {
    it("lists every missing and every corrupt block", async () => {
      const collection = await api.collection({ type: "ERC721" });
      const [missing, corrupt] = [await mint(collection, "missing"), await mint(collection, "corrupt")];
      await mint(collection, "whole");
      expect(await media("--media")).to.deep.equal([["ok", "every hosted block exists and matches its checksum"]]);
      await rm(fileOf(missing));
      await writeFile(fileOf(corrupt), "corrupt!");
      const found = await media("--media");
      expect(found).to.have.length(2);
      expect(found.find(([, words]) => words?.includes(`block ${missing} is missing`))?.[0]).to.equal("problem");
      expect(found.find(([, words]) => words?.includes(`block ${corrupt} is corrupt`))?.[0]).to.equal("problem");
    });

    it("checks directories, and collects nothing while content is damaged", async () => {
      const collection = await api.collection({ type: "ERC721" });
      await mint(collection, "cat");
      const freeze = await api.accept(`/v1/collections/${collection}/freeze`, {});
      await api.settled(freeze);
      const { token_uri: uri } = await api.ok<{ token_uri: string }>("GET", `/v1/collections/${collection}/1`);
      const root = uri.split("/")[2] ?? "";
      await writeFile(fileOf(root), "x");
      expect((await media("--media"))[0]?.[1]).to.contain(`ipfs://${root}: block ${root} is corrupt`);
      await age();
      const refusal = await rejectionOf(runCli(moneta.env, "media", "collect"));
      expect(refusal.message).to.contain("Nothing was removed");
    });
  });
});
