import { expect } from "chai";
import fc from "fast-check";

import type { ChainEdit } from "../../../../api/store/ledger/chain-edits.ts";
import { rollback } from "../../../../api/store/ledger/rollback.ts";
import { triesOnEngine } from "../../../support/engine.ts";
import { apply, applyAndSettle } from "../../support/blocks.ts";
import { useLedger } from "../../support/ledger.ts";
import { rangeOf } from "../../support/ranges.ts";
import { addCollection, entryOf, hashOf, randomAddress } from "../../support/rows.ts";
import { statementCounter } from "../../support/statement-counter.ts";

const BLOCKS = 4;
const BASES = ["ipfs://a/", "ipfs://b/"];

describe("changes of an owner", () => {
  const database = useLedger();

  /** A collection with the ids 1 and 2, minted in block 1. */
  async function collectionWithTokens(): Promise<string> {
    const contract = await addCollection(database, { type: "ERC1155", hosting: "self-hosted", baseUri: "ipfs://a/" });
    const entries = ["1", "2"].map((tokenId) =>
      entryOf("ERC1155", { contract, tokenId, from: null, to: randomAddress(), quantity: "1" }),
    );
    await apply(database, { block: 1, entries });
    return contract;
  }

  async function stored(contract: string) {
    const { read } = database;
    const collection = await read
      .selectFrom("collections")
      .select(["owner", "max_supply", "service_may_mint", "base_uri", "metadata_frozen", "royalty_frozen"])
      .where("address", "=", contract)
      .executeTakeFirstOrThrow();
    const tokens = read.selectFrom("nfts").select("token_uri").where("contract", "=", contract);
    const uris = (await tokens.orderBy("token_id").execute()).map(({ token_uri: uri }) => uri);
    return { collection, uris };
  }

  /** What the changes of the blocks up to `last` leave behind, one after the other. */
  function modelled(before: Awaited<ReturnType<typeof stored>>, edits: readonly ChainEdit[], last: number) {
    const { collection, uris } = structuredClone(before);
    for (const { contract, tokenId, column, value, blockNumber } of edits) {
      if (blockNumber > last) continue;
      if (tokenId === null) Object.assign(collection, { [column]: value });
      else if (uris[Number(tokenId) - 1] !== undefined) {
        const isTemplate = value === collection.base_uri || String(value).endsWith(`/${contract}/{id}`);
        uris[Number(tokenId) - 1] = isTemplate ? null : String(value);
      }
    }
    return { collection, uris };
  }

  const edit = fc.oneof(
    fc.record({ column: fc.constant("owner" as const), value: fc.constantFrom("0xa", "0xb") }),
    fc.record({ column: fc.constant("max_supply" as const), value: fc.constantFrom(40, 50, null) }),
    fc.record({ column: fc.constant("service_may_mint" as const), value: fc.nat({ max: 1 }) }),
    fc.record({ column: fc.constant("base_uri" as const), value: fc.constantFrom(...BASES) }),
    fc.record({ column: fc.constant("metadata_frozen" as const), value: fc.constant(2) }),
    fc.record({ column: fc.constant("royalty_frozen" as const), value: fc.constant(1) }),
    fc.record({
      column: fc.constant("token_uri" as const),
      tokenId: fc.constantFrom("1", "2", "unknown"),
      value: fc.constantFrom("ipfs://own", "ipfs://other", "template", ...BASES),
    }),
  );
  const blocks = fc.array(fc.array(edit, { maxLength: 6 }), { minLength: BLOCKS, maxLength: BLOCKS });

  it("leave what they would leave one by one, in one range too, and a rollback to any of its blocks is exact", async () => {
    const contract = await collectionWithTokens();
    const before = await stored(contract);
    await fc.assert(
      fc.asyncProperty(blocks, fc.boolean(), async (random, isOneRange) => {
        const edits = random.flatMap((some, index) =>
          some.map((one): ChainEdit => {
            const tokenId = "tokenId" in one ? one.tokenId : null;
            const value = one.value === "template" ? `https://example.com/${contract}/{id}` : one.value;
            return { contract, tokenId, column: one.column, value, blockNumber: index + 2 };
          }),
        );
        const last = BLOCKS + 1;
        if (isOneRange) {
          const headers = random.flatMap((_, index) => rangeOf({ block: index + 2 }).blocks);
          const parentHash = hashOf("main 1");
          expect(await apply(database, { block: last, from: 2, parentHash, blocks: headers, edits })).to.equal(true);
        } else {
          for (let block = 2; block <= last; block++) {
            const ofBlock = edits.filter(({ blockNumber }) => blockNumber === block);
            expect(await apply(database, { block, edits: ofBlock })).to.equal(true);
          }
        }
        for (let fork = last; fork >= 1; fork--) {
          if (fork < last) await database.write((trx) => rollback(trx, fork));
          expect(await stored(contract), `after block ${fork.toString()}`).to.deep.equal(modelled(before, edits, fork));
        }
        expect(await database.read.selectFrom("chain_edits").selectAll().execute()).to.deep.equal([]);
      }),
      { numRuns: triesOnEngine(60) },
    );
  });

  it("take as many statements as one change, however often they repeat, and so does their rollback", async () => {
    const contract = await collectionWithTokens();
    const { plugin, taken } = statementCounter();
    const statements = async (count: number) => {
      const edits = Array.from({ length: count }, (_, index): ChainEdit[] => [
        { contract, tokenId: null, column: "service_may_mint", value: index % 2, blockNumber: 2 },
        { contract, tokenId: "1", column: "token_uri", value: `ipfs://${index.toString()}`, blockNumber: 2 },
      ]).flat();
      await database.write((trx) => applyAndSettle(trx.withPlugin(plugin), { block: 2, edits }, 1));
      const applied = taken();
      await database.write((trx) => rollback(trx.withPlugin(plugin), 1));
      return { applied, undone: taken() };
    };
    const few = await statements(1);
    expect(few.applied).to.be.greaterThan(0);
    expect(await statements(1_001)).to.deep.equal(few);
  });
});
