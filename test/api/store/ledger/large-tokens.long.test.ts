import { expect } from "chai";

import { CounterDeltas } from "../../../../api/store/db/counters.ts";
import { TokenSet } from "../../../../api/store/ledger/token-set.ts";
import { addApp, addCollection, moveOf } from "../../support/rows.ts";
import { useTestDatabase } from "../../../support/use-database.ts";

/** Tokens of one block that an older version accepted: each with 8 MiB of JSON, which become 16 MiB inside of other JSON. */
const TOKENS = 36;
const QUOTES = 4 * 1024 * 1024 - 100;

describe("tokens with the largest metadata that an older version accepted", () => {
  const database = useTestDatabase({ per: "block" });

  it("are stored when one block has many of them", async () => {
    await addApp(database);
    const contract = await addCollection(database);
    const moves = Array.from({ length: TOKENS }, (_, index) =>
      moveOf({ contract, from: null, to: contract, tokenId: (index + 1).toString() }),
    );
    const content = { metadata: { description: '"'.repeat(QUOTES) }, tokenUri: null };
    await database.write(async (trx) => {
      const counters = new CounterDeltas();
      const tokens = await TokenSet.read(trx, moves);
      for (const move of moves) tokens.mint(move, "ERC721", content);
      await tokens.store(trx, counters);
    });
    const { stored } = await database.read
      .selectFrom("nfts")
      .select((eb) => eb.fn.countAll().as("stored"))
      .where((eb) => eb(eb.fn<number>("length", ["metadata"]), ">", 8 * 1024 * 1024 - 300))
      .executeTakeFirstOrThrow();
    expect(Number(stored)).to.equal(TOKENS);
  });
});
