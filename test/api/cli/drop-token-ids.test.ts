import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect } from "chai";

import type { BulkItem } from "../../../client/bulk-progress.ts";
import type { Shape } from "../../../client/client.ts";
import { TOKEN_IDS } from "../../../client/drop/layout.ts";
import { writeTokenIds } from "../../../client/drop-node/report.ts";
import { TestProcess } from "../../support/process.ts";
import { picture, useDrop } from "./support/use-drop.ts";

describe("command line: old and new ids of a drop", () => {
  const drop = useDrop();
  const { moneta, place } = drop;

  const write = (name: string, text: string) => writeFile(join(place.path, name), text);
  const tableOfIds = async () => (await readFile(join(place.path, TOKEN_IDS), "utf8")).trim().split("\r\n");
  /** Requests of the collection: what each token is called, by its new id. */
  async function references(): Promise<Map<string, string | null>> {
    const path = `/v1/requests?collection=${drop.collection}&type=mint&limit=200`;
    const { requests } = await moneta.api.ok<Shape<"RequestsPage">>("GET", path);
    return new Map(requests.map(({ token_id: id, reference }) => [String(id), reference]));
  }
  /** The table must name the token that has the old id as its name. */
  async function expectNames(): Promise<void> {
    const ids = new Map((await tableOfIds()).slice(1).map((line) => line.split(",") as [string, string]));
    const tokens = await drop.minted();
    expect(new Map(tokens.map((nft) => [nft.metadata?.name, String(nft.token_id)]))).to.deep.equal(ids);
  }

  it("are in a table when the names of the files are ids, and the old id is the reference", async () => {
    for (const id of [7, 40, 100]) await write(`${id.toString()}.svg`, picture(id));
    const { output } = await drop.run();
    expect(output).to.contain("7.svg (id 7) becomes token 1. A token without a reference of its own keeps the old id");
    expect(await readdir(place.path)).to.not.contain(TOKEN_IDS);
    expect((await drop.run("--yes")).output).to.contain(`Old and new token ids: ${join(place.path, TOKEN_IDS)}`);
    expect((await tableOfIds())[0]).to.equal("old_id,new_id");
    await expectNames();
    const found = await references();
    for (const line of (await tableOfIds()).slice(1)) {
      const [old = "", now = ""] = line.split(",");
      expect(found.get(now)).to.equal(old);
    }
    // Its own files are no part of the folder.
    const again = await drop.json("--yes");
    expect(again).to.include({ state: "finished", completed: 3, token_ids: join(place.path, TOKEN_IDS) });
    expect(await drop.minted()).to.have.length(3);
  });

  it("come from the column of a table, whose references stay", async () => {
    for (const name of ["a", "b"]) await write(`${name}.svg`, picture(name.charCodeAt(0)));
    await write("metadata.csv", "file,token_id,name,reference\na.svg,5,5,order 1\nb.svg,0006,6,\n");
    expect(await drop.json("--yes")).to.include({ completed: 2 });
    await expectNames();
    expect([...(await references()).values()].sort()).to.deep.equal(["6", "order 1"]);
  });

  it("come from the field token_id of JSON files before their names", async () => {
    await drop.writeJsonLayout(2);
    for (const [file, id] of [
      ["1", 31],
      ["2", "32"],
    ])
      await write(`json/${String(file)}.json`, JSON.stringify({ name: String(id), token_id: id }));
    expect(await drop.json("--yes")).to.include({ completed: 2 });
    await expectNames();
    expect((await tableOfIds()).slice(1).map((line) => line.split(",")[0])).to.deep.equal(["31", "32"]);
  });

  it("have an empty cell where no token was minted", async () => {
    const tokens = ["8", null, "9"].map((oldId) => ({ oldId }));
    const failed = {
      is: "failed",
      requestId: "ab",
      code: null,
      message: "",
      errors: [],
      status: null,
    } satisfies BulkItem;
    await writeTokenIds(place.path, tokens, [failed, failed, { is: "completed", requestId: "cd", tokenId: "1" }]);
    expect(await tableOfIds()).to.deep.equal(["old_id,new_id", "8,", "9,1"]);
  });

  it("are in no table when the folder says none, or the contract keeps them", async () => {
    await write("cat.svg", picture(1));
    expect(await drop.json("--yes")).to.include({ completed: 1, token_ids: null });
    expect([...(await references()).values()]).to.deep.equal([null]);
    await rm(place.path, { recursive: true });
    await drop.writeJsonLayout(2);
    drop.collection = await moneta.api.collection({ type: "ERC1155" });
    expect(await drop.json("--yes", "--supply", "3")).to.include({ completed: 2, token_ids: null });
    const minted = (await drop.minted()).map((nft) => [nft.metadata?.name, nft.token_id]);
    expect(minted).to.have.deep.members([
      ["Cat 1", 1],
      ["Cat 2", 2],
    ]);
    expect(await readdir(place.path)).to.not.contain(TOKEN_IDS);
  });

  it("are complete after the command was killed and run again", async () => {
    for (let id = 501; id <= 560; id++) await write(`${id.toString()}.svg`, picture(id));
    for (const moment of [/sent 0 of/, /sent 60 of/]) {
      const killed = new TestProcess(["api/cli/main.ts", ...drop.words("--yes")], drop.env);
      await killed.printed(moment);
      expect(await killed.end("SIGKILL")).to.equal("SIGKILL");
    }
    expect(await drop.json("--yes")).to.include({ completed: 60 });
    const lines = (await tableOfIds()).slice(1).map((line) => line.split(","));
    expect(lines.map(([old]) => old)).to.deep.equal(Array.from({ length: 60 }, (_, index) => (501 + index).toString()));
    expect(new Set(lines.map(([, now]) => now)).size).to.equal(60);
    const found = await references();
    for (const [old = "", now = ""] of lines) expect(found.get(now)).to.equal(old);
  });
});
