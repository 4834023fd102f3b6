import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

import { expect } from "chai";

import { NAMED_EVENTS } from "../../../api/domain/events.ts";
import { parseExact } from "../../../client/rules/exact-json.ts";
import { WizardERC721__factory } from "../../../types/ethers-contracts/factories/mocks/WizardERC721__factory.ts";
import { PNG } from "../../support/pictures.ts";
import { rejectionOf } from "../../support/rejection.ts";
import { useFolder } from "../../support/use-folder.ts";
import { useService } from "../../support/use-service.ts";
import { jsonOfCli, runCli } from "./support/run.ts";

type Json = Record<string, unknown>;

interface Exported {
  folder: string;
  complete: boolean;
  export: {
    files: Record<string, { rows: number; bytes: number; sha256: string; block: number }>;
    left_out: { unlockable: number; media: number };
  };
}

const SECRET = "The cat sleeps in the attic.";
const TRAITS = [{ trait_type: "Luck", value: "7" }];
/** More than one block, so it can be split in more than one way. */
const LARGE = Buffer.concat([PNG, Buffer.alloc(1_500_000, 7)]);

describe("command line: export", () => {
  const moneta = useService();
  const { api } = moneta;
  const folder = useFolder({ per: "block" });
  let [cats, gems, frozen, wizards] = ["", "", "", ""];
  let [alice, bob] = ["", ""];
  let exported: Exported;

  const upload = async (bytes: Buffer) => {
    const answer = await fetch(`${moneta.baseUrl}/v1/media`, {
      method: "POST",
      headers: { Authorization: `Bearer ${moneta.app.token}`, "Content-Type": "image/png" },
      body: new Uint8Array(bytes),
    });
    return (await answer.json()) as { uri: string };
  };
  const linesOf = async (name: string) =>
    (await readFile(join(exported.folder, `${name}.ndjson`), "utf8"))
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => parseExact(line) as Json);

  before("an app with everything", async () => {
    [alice, bob] = [await api.wallet("alice"), await api.wallet("bob")];
    const [image, large] = [await upload(PNG), await upload(LARGE)];
    cats = await api.collection({ type: "ERC721", name: "Cats", description: "All cats" });
    gems = await api.collection({ type: "ERC1155", name: "Gems" });
    frozen = await api.collection({ type: "ERC721", name: "Ice" });
    await api.mint(cats, alice, { name: "Cat {token_id}", image: image.uri, attributes: TRAITS });
    await api.mint(cats, bob, { name: "Secretive", unlockable_content: SECRET });
    await api.mint(cats, bob, { name: "Gone" });
    await api.create(gems, alice, "9007199254740993", 5, { name: "Ruby", image: large.uri });
    await api.move(cats, 1, alice, bob);
    await api.move(gems, "9007199254740993", alice, bob, 2);
    await api.completed("/v1/burns", { contract_address: cats, token_id: 3, from_address: bob });
    await api.mint(frozen, alice, { name: "Snow" });
    await api.settled(
      (await api.ok<{ request_id: string }>("POST", `/v1/collections/${frozen}/freeze`, {})).request_id,
    );
    const owner = await moneta.provider.getSigner(3);
    const contract = await new WizardERC721__factory(owner).deploy(owner.address, 5);
    wizards = await contract.getAddress();
    await (await contract.transferFrom(owner.address, alice, 2)).wait();
    await runCli(moneta.env, "collection", "adopt", wizards, "--app", moneta.app.appId, "--allow");
  });

  it("exports every row as the API shows it, with the digest of each file, and no secret", async () => {
    exported = await jsonOfCli<Exported>(moneta.env, "export", join(folder.path, "out"), "--app", moneta.app.appId);
    expect(exported.complete).to.equal(true);
    expect(exported.export.left_out).to.deep.equal({ unlockable: 1, media: 0 });
    for (const [name, { rows, bytes, sha256 }] of Object.entries(exported.export.files)) {
      const content = await readFile(join(exported.folder, name));
      expect(content.length, name).to.equal(bytes);
      expect(createHash("sha256").update(content).digest("hex"), name).to.equal(sha256);
      expect(content.toString().split("\n").length - 1, name).to.equal(rows);
      expect(content.toString(), name).not.to.contain(SECRET);
    }
    expect(await readdir(exported.folder)).not.to.contain("unlockable.ndjson");

    const tokens = await linesOf("tokens");
    for (const contract of [cats, gems, frozen, wizards]) {
      const { nfts } = await api.ok<{ nfts: Json[] }>("GET", `/v1/collections/${contract}?order=oldest`);
      expect(tokens.filter((row) => row["contract_address"] === contract)).to.deep.equal(nfts);
    }
    const { collections } = await api.ok<{ collections: Json[] }>("GET", "/v1/collections?order=oldest");
    const rows = await linesOf("collections");
    // An adopted collection says up to which block it is read.
    const own = ({ metadata: _metadata, adopted: _adopted, ...row }: Json) => row;
    expect(rows.map(own)).to.deep.equal(collections.map(own));
    expect(rows.map((row) => row["metadata"])).to.deep.include.members([
      { name: "Cats", symbol: rows[0]?.["symbol"], description: "All cats" },
      null,
    ]);
    expect((await linesOf("events")).slice(0, 30)).to.deep.equal(
      (await api.ok<{ events: Json[] }>("GET", `/v1/events?after=start&limit=30&types=${NAMED_EVENTS.join(",")}`))
        .events,
    );
    const { requests } = await api.ok<{ requests: Json[] }>("GET", "/v1/requests?order=oldest&limit=30");
    expect(await linesOf("requests")).to.deep.equal(requests);
    const history = (await linesOf("history")).filter(
      (row) => row["contract_address"] === cats && row["token_id"] === 1,
    );
    const { history: newest } = await api.ok<{ history: Json[] }>("GET", `/v1/collections/${cats}/1/history`);
    expect(history).to.deep.equal(newest.toReversed());
    const holders = (await linesOf("holders")).filter((row) => row["contract_address"] === gems);
    expect(holders.map((row) => [row["address"], row["quantity"], row["user_identifier"]])).to.have.deep.members([
      [alice, 3, "alice"],
      [bob, 2, "bob"],
    ]);
    expect((await linesOf("wallets")).map((row) => [row["user_identifier"], row["address"]])).to.deep.include.members([
      ["alice", alice],
      ["bob", bob],
    ]);
    const readme = await readFile(join(exported.folder, "README.md"), "utf8");
    for (const name of Object.keys(exported.export.files)) expect(readme).to.contain(name);
  });

  it("writes unlockable content in clear text when it is asked for", async () => {
    const to = join(folder.path, "open");
    await jsonOfCli<Exported>(moneta.env, "export", to, "--app", moneta.app.appId, "--unlockable");
    const [row] = (await readFile(join(to, "unlockable.ndjson"), "utf8")).split("\n");
    expect(JSON.parse(row ?? "")).to.include({ contract_address: cats, token_id: "2", unlockable_content: SECRET });
  });

  it("refuses a folder that is not empty, or is lost with the data", async () => {
    const refusal = async (work: Promise<unknown>) => (await rejectionOf(work)).message;
    const exportTo = (to: string) => runCli(moneta.env, "export", to, "--app", moneta.app.appId);
    expect(await refusal(exportTo(exported.folder))).to.contain("is not empty");
    expect(await refusal(exportTo(join(moneta.folder, "inside")))).to.contain("is inside DATA_DIR");
  });
});
