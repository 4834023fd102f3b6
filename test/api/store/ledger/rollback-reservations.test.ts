import { expect } from "chai";

import type { CreateErc1155, MintErc721 } from "../../../../api/domain/command.ts";
import type { BlockRange } from "../../../../api/store/ledger/apply-range.ts";
import { rollback } from "../../../../api/store/ledger/rollback.ts";
import type { TestDatabase } from "../../../support/database.ts";
import { apply, batchOf } from "../../support/blocks.ts";
import { contents } from "../../support/contents.ts";
import { openLedger } from "../../support/ledger.ts";
import { addCollection, addRequest, moveOf, randomAddress, requestRow, reserve } from "../../support/rows.ts";

const AT = { blockNumber: 1, transactionHash: "0x01" };

describe("rollback of mints", () => {
  let database: TestDatabase;
  let erc721: string;
  let erc1155: string;
  const to = randomAddress();

  beforeEach(async () => {
    database = await openLedger();
    erc721 = await addCollection(database, { maxSupply: 2 });
    erc1155 = await addCollection(database, { type: "ERC1155" });
  });
  afterEach(() => database.remove());

  /** Accepts a mint, with its reservation. @returns the request's id. */
  async function accept(command: MintErc721 | CreateErc1155): Promise<string> {
    const { id } = await addRequest(database, command);
    await database.write((trx) => reserve(trx, id, command));
    return id;
  }

  /** Three mints in one batch: of an ERC721 token, of the ERC1155 ids 7 and 8. */
  async function batchOfMints() {
    const create = { kind: "create-erc1155", collection: erc1155, to } as const;
    const { batchId, requests } = await batchOf(database, [
      await accept({ kind: "mint-erc721", collection: erc721, to, metadata: { name: "one" } }),
      await accept({ ...create, tokenId: "7", quantity: "10", uri: null, metadata: { name: "seven" } }),
      await accept({ ...create, tokenId: "8", quantity: "3", uri: "ipfs://8", metadata: null }),
    ]);
    const [mint, seven, eight] = requests;
    if (mint === undefined || seven === undefined || eight === undefined) throw new Error("a batch of three requests");
    return { batchId, mint, seven, eight };
  }

  /** A block in which the batch ran: id 8 failed. */
  function block({ batchId, mint, seven, eight }: Awaited<ReturnType<typeof batchOfMints>>): Partial<BlockRange> {
    const copies = { contract: erc1155, tokenId: "7", from: null, to, quantity: "10", requestId: seven.id, ...AT };
    const token = { contract: erc721, tokenId: "1", from: null, to, requestId: mint.id, ...AT };
    return {
      batches: [
        {
          batchId,
          ...AT,
          timestamp: 1_000,
          untouched: [],
          outcomes: [
            { request: mint, outcome: { ok: true, collection: erc721, tokenId: "1" } },
            { request: seven, outcome: { ok: true, collection: erc1155, tokenId: "7" } },
            { request: eight, outcome: { ok: false, errorCode: "receiver_rejected", errors: null } },
          ],
        },
      ],
      moves: [
        { move: moveOf(token), type: "ERC721", foreign: false, mintedBy: mint },
        { move: moveOf(copies), type: "ERC1155", foreign: false, mintedBy: seven },
      ],
    };
  }

  describe("given mints that succeeded and failed in a dropped block", () => {
    it("restores every reservation exactly", async () => {
      const batch = await batchOfMints();
      const before = await contents(database);
      await apply(database, { block: 1, ...block(batch) });
      const columns = ["contract", "token_id", "supply", "reserved"] as const;
      const tokens = await database.read.selectFrom("nfts").select(columns).orderBy("token_id").execute();
      // The failed create has freed its id; the other one has copies instead of a reservation.
      expect(tokens).to.deep.equal([
        { contract: erc721, token_id: "1", supply: "1", reserved: "0" },
        { contract: erc1155, token_id: "7", supply: "10", reserved: "0" },
      ]);
      const quantity = (2n ** 128n - 10n).toString();
      const tooMany = { kind: "mint-erc1155", collection: erc1155, to, tokenId: "7", quantity } as const;
      const answer = await database.write((trx) => reserve(trx, "more", tooMany));
      expect(answer).to.equal("supply_exceeded");

      await database.write((trx) => rollback(trx, 0));
      expect(await contents(database)).to.deep.equal(before);
      const request = await requestRow(database, batch.mint.id);
      expect(request).to.include({ status: "processing", outcome: null, nft_token_id: null });
      const batches = await database.read.selectFrom("batches").select("status").execute();
      expect(batches).to.deep.equal([{ status: "open" }]);
    });
  });
});
