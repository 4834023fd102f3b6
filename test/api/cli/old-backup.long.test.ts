import { expect } from "chai";

import { StartupError } from "../../../api/context/startup-error.ts";
import type { Examination } from "../../../api/checks/examine.ts";
import type { Reconciliation } from "../../../api/operate/reconcile/reconcile.ts";
import { ERC1155Collection__factory } from "../../../types/ethers-contracts/factories/ERC1155Collection__factory.ts";
import { ERC721Collection__factory } from "../../../types/ethers-contracts/factories/ERC721Collection__factory.ts";
import type { Shape } from "../../../client/client.ts";
import type { RequestBody } from "../../support/api-client.ts";
import { rejectionOf } from "../../support/rejection.ts";
import { contents, countedTotals } from "../support/contents.ts";
import { NOT_SENDING, useOldBackup } from "./support/old-backup.ts";
import { jsonOfCli, runCli } from "./support/run.ts";

/** The tests are steps of one restore, in order. */
describe("an old backup", () => {
  const backup = useOldBackup();
  const { moneta } = backup;
  const { api } = moneta;
  let mintedBefore: bigint;
  /** A request that was accepted after the restore. */
  let later: string;

  before(async () => {
    mintedBefore = await ERC721Collection__factory.connect(backup.erc721, moneta.provider).totalMinted();
  });

  it("stops the start with an error that says what to do", async () => {
    expect(mintedBefore).to.equal(4n);
    await backup.restoreBackup();
    const { erc721, wallets } = backup;
    await moneta.start(NOT_SENDING);
    later = await api.accept("/v1/nfts", { collection_address: erc721, to_address: wallets[2], name: "Later" });
    await moneta.stop();
    const error = await rejectionOf(moneta.start());
    expect(error).to.be.instanceOf(StartupError);
    expect(error.message).to.match(
      /is an old backup, or another service uses the same seed.*`npm run cli -- reconcile`/,
    );
    const { output, failed } = await runCli(moneta.env, "doctor", "--json");
    expect(failed).to.equal(true);
    const words = (JSON.parse(output) as Examination).findings
      .filter((finding) => finding.result === "problem")
      .map((finding) => finding.words);
    expect(words.join())
      .to.match(/is an old backup/)
      .and.match(/executed on chain but not sent by this database/);
  });

  it("stays unchanged by reconcile --dry-run", async () => {
    const { waiting } = backup;
    const before = await backup.withDatabase(contents);
    const result = await jsonOfCli<Reconciliation>(moneta.env, "reconcile", "--dry-run");
    expect(result.dry_run).to.equal(true);
    expect(result.recovery?.uncertain).to.have.members([waiting.mint, waiting.transfer, waiting.collection]);
    expect(await backup.withDatabase(contents)).to.deep.equal(before);
  });

  it("keeps uncertain requests pending with reconcile --run-uncertain", async () => {
    const { waiting } = backup;
    await backup.undoing(async () => {
      await jsonOfCli<Reconciliation>(moneta.env, "reconcile", "--run-uncertain");
      const rows = await backup.withDatabase((database) =>
        database.read.selectFrom("requests").select(["id", "status"]).where("status", "=", "pending").execute(),
      );
      const left = rows.map((row) => row.id);
      expect(left).to.include.members([waiting.mint, waiting.transfer, waiting.collection, later]);
    });
  });

  it("is repaired by reconcile, which fails uncertain requests", async () => {
    const { waiting, lost } = backup;
    const result = await jsonOfCli<Reconciliation>(moneta.env, "reconcile", "--adopt-into", "test");
    expect(result.recovery).to.not.equal(null);
    expect(result.recovery?.recognised).to.equal(2);
    expect(result.recovery?.uncertain).to.have.members([waiting.mint, waiting.transfer, waiting.collection]);
    expect(result.recovery?.lost_wallets).to.deep.equal([lost.nameless]);
    expect(result.adopted).to.include(lost.collection);
    expect(result.ownerless).to.deep.equal([]);
    expect(result.comparison.told).to.deep.equal([]);
  });

  it("starts after reconcile, and executes nothing twice", async () => {
    const { erc721, erc1155, waiting, lost, wallets } = backup;
    const [w1, w2] = wallets;
    await moneta.start();
    const of = (id: string) => api.ok<RequestBody>("GET", `/v1/requests/${id}`);
    expect((await api.settled(later)).status).to.equal("completed");
    for (const id of [waiting.mint, waiting.transfer, waiting.collection]) {
      expect(await of(id)).to.include({ status: "failed", error_code: "number_taken" });
    }
    expect(await api.settled(waiting.numbered)).to.include({ status: "completed" });
    expect(await api.settled(waiting.create)).to.include({ status: "completed", nft_token_id: 9 });

    const contract = ERC721Collection__factory.connect(erc721, moneta.provider);
    expect(await contract.totalMinted()).to.equal(mintedBefore + 1n);
    expect(await ERC1155Collection__factory.connect(erc1155, moneta.provider).totalSupply(9)).to.equal(5n);
    expect(await contract.ownerOf(1)).to.equal(w2);
    // Recognised by its number, so its content belongs to its token.
    const { nft_token_id: id } = await of(waiting.numbered);
    const { nfts } = await api.ok<{ nfts: Record<string, unknown>[] }>(
      "GET",
      `/v1/accounts/${w2}/${erc721}/${String(id)}`,
    );
    expect(nfts[0]).to.include({ unlockable_content: "of Numbered" });

    const nine = await api.ok<{ metadata: object }>("GET", `/v1/collections/${erc1155}/9`);
    expect(nine.metadata).to.include({ name: "Nine" });

    const { address } = await api.ok<{ address: string }>("POST", "/v1/accounts", { user_identifier: "late" });
    expect(address).to.equal(lost.wallet);
    expect((await api.ok<{ total: number }>("GET", `/v1/accounts/${address}`)).total).to.equal(2);
    const { collections } = await api.ok<{ collections: { address: string }[] }>("GET", "/v1/collections");
    expect(collections.map((collection) => collection.address)).to.include(lost.collection);
    await api.completed("/v1/nfts", { collection_address: lost.collection, to_address: w1, name: "Goes on" });

    const { events } = await api.ok<{ events: { request_id: string }[] }>(
      "GET",
      `/v1/events?after=${backup.oldCursor}&limit=30`,
    );
    expect(events.map((event) => event.request_id)).to.include(later);
    expect(await backup.withDatabase(countedTotals)).to.deep.equal([]);
  });

  it("has one event of each movement of a token: reconcile made none of the blocks that it read again", async () => {
    const types = "token.minted,token.sent,token.received,token.transferred,gap,corrected";
    const { events } = await api.ok<Shape<"EventsFeed">>("GET", `/v1/events?after=start&types=${types}`);
    const movements = (events as Shape<"TokenEvent">[]).map(
      ({ type, block_number: block, log_index: log }) => `${type} ${block.toString()}/${log.toString()}`,
    );
    expect(new Set(movements)).to.have.length(movements.length);
    // One from before the backup, six from after it (a wallet that the restored database does not know yet moved a token), and
    // those of the request after the restore and of the test before.
    const mint = "token.minted";
    expect(movements.map((one) => one.split(" ")[0])).to.deep.equal([
      ...[mint, mint, mint, mint, "token.sent", mint, "token.transferred", mint, mint],
    ]);
  });

  it("needs a second reconcile only for the history of wallets that came back", async () => {
    const second = await jsonOfCli<Reconciliation>(moneta.env, "reconcile");
    expect(second.recovery).to.equal(null);
    expect(second.comparison.told.map(({ what }) => what).join()).to.match(/history at block/);
    const third = await jsonOfCli<Reconciliation>(moneta.env, "reconcile");
    expect(third.recovery).to.equal(null);
    expect(third.comparison.told).to.deep.equal([]);
    const { output, failed } = await runCli(moneta.env, "doctor");
    expect(failed, output).to.equal(false);
  });
});
