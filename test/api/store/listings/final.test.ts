import { expect } from "chai";

import { recordForeignHoldings } from "../../../../api/store/ledger/follow.ts";
import { rollback } from "../../../../api/store/ledger/rollback.ts";
import { listTokenHistory, listWalletHistory } from "../../../../api/store/listings/history.ts";
import { listContents, listHolders } from "../../../../api/store/listings/holdings.ts";
import { findNft, listNfts } from "../../../../api/store/listings/nfts.ts";
import { settleFinal } from "../../../../api/store/requests/settle-final.ts";
import { apply, startAtBlock } from "../../support/blocks.ts";
import { addWalletRow, follow } from "../../support/follow.ts";
import { useLedger } from "../../support/ledger.ts";
import { addCollection, addRequest, APP, entryOf, mintOf } from "../../support/rows.ts";

const PAGE = { limit: 30, offset: 0, after: null };

describe("whether items of lists are final", () => {
  const database = useLedger();
  let [alice, bob] = ["", ""];
  beforeEach(async () => {
    alice = await addWalletRow(database, APP);
    bob = await addWalletRow(database, APP);
  });

  type Ends = { from: string | null; to: string | null; quantity?: string };
  /** Stores a block with these movements of token 1. */
  async function block(number: number, contract: string, type: "ERC721" | "ERC1155", ends: Ends[], confirmed = 0) {
    const entries = ends.map((one) => entryOf(type, { contract, tokenId: "1", blockNumber: number, ...one }));
    expect(await apply(database, { block: number, entries, confirmed, wallets: new Set([alice, bob]) })).to.equal(true);
  }
  const settle = (confirmed: number) =>
    database.write((trx) => settleFinal(trx, { confirmed, failuresUpTo: confirmed }, 1));

  async function shown(contract: string) {
    const { read } = database;
    const held = async (owner: string) =>
      (await listContents(read, owner, null, PAGE)).items.map(({ quantity, final }) => `${quantity} ${String(final)}`);
    const token = await findNft(read, contract, "1");
    const listed = (await listNfts(read, contract, "oldest", PAGE)).items;
    return {
      alice: await held(alice),
      bob: await held(bob),
      token: `${token?.supply ?? ""} ${String(token?.final)}`,
      listed: listed.map(({ supply, final }) => `${supply} ${String(final)}`),
      holders: (await listHolders(read, contract, "1", PAGE)).items.map(({ final }) => final),
      history: (await listTokenHistory(read, APP, { contract, tokenId: "1" }, PAGE)).items.map(({ final }) => final),
      ofAlice: (await listWalletHistory(read, APP, alice, PAGE)).items.map(({ final }) => final),
    };
  }

  it("is said of an ERC721 token by the block in which it got its owner, or was burnt", async () => {
    const contract = await addCollection(database);
    await block(1, contract, "ERC721", [{ from: null, to: alice }]);
    const minted = { bob: [], token: "1 false", listed: ["1 false"], holders: [false] };
    expect(await shown(contract)).to.deep.equal({ ...minted, alice: ["1 false"], history: [false], ofAlice: [false] });
    await block(2, contract, "ERC721", [{ from: alice, to: bob }], 1);
    expect(await shown(contract)).to.deep.equal({
      ...{ alice: [], bob: ["1 false"], token: "1 false", listed: ["1 false"], holders: [false] },
      ...{ history: [false, true], ofAlice: [false, true] },
    });
    await settle(2);
    expect(await shown(contract)).to.deep.include({ bob: ["1 true"], token: "1 true", listed: ["1 true"] });
    await block(3, contract, "ERC721", [{ from: bob, to: null }], 2);
    expect(await shown(contract)).to.deep.include({ bob: [], token: "0 false", listed: [], holders: [] });
    await settle(3);
    expect(await shown(contract)).to.deep.include({ token: "0 true", history: [true, true, true] });
  });

  it("is said of copies by the last block that changed their number", async () => {
    const contract = await addCollection(database, { type: "ERC1155" });
    await block(1, contract, "ERC1155", [{ from: null, to: alice, quantity: "5" }], 1);
    expect(await shown(contract)).to.deep.include({ alice: ["5 true"], token: "5 true", holders: [true] });
    // A transfer changes what its ends have, and not how many copies exist.
    await block(2, contract, "ERC1155", [{ from: alice, to: bob, quantity: "2" }], 1);
    expect(await shown(contract)).to.deep.include({ alice: ["3 false"], bob: ["2 false"], token: "5 true" });
    await block(3, contract, "ERC1155", [{ from: null, to: bob, quantity: "1" }], 2);
    expect(await shown(contract)).to.deep.include({ alice: ["3 true"], bob: ["3 false"], token: "6 false" });
    await block(4, contract, "ERC1155", [{ from: bob, to: null, quantity: "1" }], 3);
    expect(await shown(contract)).to.deep.include({ alice: ["3 true"], bob: ["2 false"], token: "5 false" });
    // What comes and goes in one block has changed, too.
    await block(5, contract, "ERC1155", [
      { from: alice, to: bob, quantity: "1" },
      { from: bob, to: alice, quantity: "1" },
    ]);
    await settle(4);
    expect(await shown(contract)).to.deep.include({ alice: ["3 false"], bob: ["2 false"], token: "5 true" });
    await settle(5);
    expect(await shown(contract)).to.deep.include({ alice: ["3 true"], bob: ["2 true"], holders: [true, true] });
  });

  it("is not said of what a reorg restored, until its fork is final", async () => {
    const contract = await addCollection(database, { type: "ERC1155" });
    await block(1, contract, "ERC1155", [{ from: null, to: alice, quantity: "5" }], 1);
    await block(2, contract, "ERC1155", [], 1);
    await block(3, contract, "ERC1155", [
      { from: alice, to: bob, quantity: "5" },
      { from: null, to: bob, quantity: "1" },
    ]);
    await settle(1);
    await database.write((trx) => rollback(trx, 2));
    expect(await shown(contract)).to.deep.include({ alice: ["5 false"], bob: [], token: "5 false", history: [true] });
    await settle(2);
    expect(await shown(contract)).to.deep.include({ alice: ["5 true"], token: "5 true" });
  });

  it("is said of rows that an earlier version stored by their first block", async () => {
    const contract = await addCollection(database, { type: "ERC1155" });
    await block(1, contract, "ERC1155", [{ from: null, to: alice, quantity: "5" }]);
    for (const table of ["nfts", "holdings"] as const)
      await database.write((trx) => trx.updateTable(table).set({ changed_block: null }).execute());
    expect(await shown(contract)).to.deep.include({ alice: ["5 false"], token: "5 false" });
    await settle(1);
    expect(await shown(contract)).to.deep.include({ alice: ["5 true"], token: "5 true" });
  });

  it("is said of a balance in a contract of others by the block at which it was read", async () => {
    const contract = await follow(database, { app: APP, type: "ERC1155" });
    await startAtBlock(database, 5);
    const balance = (quantity: string, at: number) =>
      database.write((trx) => recordForeignHoldings(trx, [{ contract, tokenId: "1", owner: alice, quantity }], at));
    const held = async () => (await shown(contract)).alice;
    await balance("1", 5);
    expect(await held()).to.deep.equal(["1 false"]);
    await settle(5);
    expect(await held()).to.deep.equal(["1 true"]);
    // Read again, and the same.
    await balance("1", 6);
    expect(await held()).to.deep.equal(["1 true"]);
    const received = { contract, tokenId: "1", from: bob, to: alice, blockNumber: 6 };
    const [entries, wallets] = [[entryOf("ERC1155", received, { kind: "foreign" })], new Set([alice])];
    const read = { contract, tokenId: "1", owner: alice, quantity: 2n };
    await apply(database, { block: 6, confirmed: 5, entries, wallets, foreignHoldings: [read] });
    expect(await held()).to.deep.equal(["2 false"]);
    // The block is dropped. However deep it is afterwards, the balance is not final before it is read again.
    await database.write((trx) => rollback(trx, 5));
    for (const next of [6, 7]) await apply(database, { block: next, confirmed: next });
    expect(await held()).to.deep.equal(["2 false"]);
    await apply(database, { block: 8, confirmed: 7, foreignHoldings: [{ ...read, quantity: 1n }] });
    expect(await held()).to.deep.equal(["1 false"]);
    await settle(8);
    expect(await held()).to.deep.equal(["1 true"]);
  });

  it("decides whether the next holder of a token sees its unlockable content", async () => {
    const contract = await addCollection(database);
    const { id } = await addRequest(database, mintOf(contract, alice));
    await block(1, contract, "ERC721", [{ from: null, to: alice }], 1);
    await database.write(async (trx) => {
      await trx.updateTable("requests").set({ unlockable: "sealed" }).where("id", "=", id).execute();
      await trx.updateTable("nfts").set({ request_id: id }).where("contract", "=", contract).execute();
    });
    const seenBy = async (owner: string) =>
      (await listContents(database.read, owner, null, PAGE)).items.map(({ unlockable }) => unlockable);
    expect(await seenBy(alice)).to.deep.equal(["sealed"]);
    await block(2, contract, "ERC721", [{ from: alice, to: bob }], 1);
    expect([await seenBy(alice), await seenBy(bob)]).to.deep.equal([[], [null]]);
    await settle(2);
    expect(await seenBy(bob)).to.deep.equal(["sealed"]);
  });
});
