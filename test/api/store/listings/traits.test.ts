import { expect } from "chai";

import { storeTraits } from "../../../../api/store/listings/search.ts";
import { useTestDatabase } from "../../../support/use-database.ts";

const CATS = "0x00000000000000000000000000000000000000C1";

describe("storeTraits", () => {
  const database = useTestDatabase();

  it("is not stopped by damaged metadata, and stores the traits of the other tokens", async () => {
    const texts = [
      '{"attributes":[{"trait_type":"fur","value":',
      '{"attributes":[{"trait_type":"fur","value":"red"}]}',
    ];
    const rows = texts.map((metadata, index) => ({
      contract: CATS,
      token_id: index.toString(),
      supply: "1",
      reserved: "0",
      metadata,
      minted_block: 5,
      minted_at: 1,
    }));
    const seqs = await database.write(async (trx) => {
      const inserted = await trx.insertInto("nfts").values(rows).returning("seq").execute();
      const all = inserted.map(({ seq }) => seq);
      await storeTraits(trx, all);
      return all;
    });
    const stored = await database.read.selectFrom("token_traits").select("token_seq").execute();
    expect(stored).to.deep.equal([{ token_seq: seqs[1] }]);
  });
});
