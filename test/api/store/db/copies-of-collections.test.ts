import { expect } from "chai";

import { MIGRATIONS } from "../../../../api/store/db/migrate.ts";
import { createTestDatabase, type DatabasePlace } from "../../../support/database.ts";
import { rawSql } from "../../../support/raw-sql.ts";
import { openWith } from "../support/later-version.ts";

const [FIRST, SECOND, THIRD] = ["0xerc1155", "0xempty", "0xerc721"];

describe("the migration that counts copies", () => {
  let place: DatabasePlace;
  beforeEach(async () => {
    place = await createTestDatabase({ schema: "none" });
  });
  afterEach(() => place.remove());

  it("adds up amounts of 128 bits, without reserved tokens, and leaves ERC721 and what is unknown empty", async () => {
    const before = Object.entries(MIGRATIONS).filter(([name]) => name < "0011");
    await openWith(place.url, Object.fromEntries(before));
    const sql = (text: string) => rawSql(place.url, text);
    await sql("insert into apps (id, name, created_at) values ('app', 'app', 1)");
    for (const [address, type] of [
      [FIRST, "ERC1155"],
      [SECOND, "ERC1155"],
      [THIRD, "ERC721"],
    ]) {
      await sql(`insert into requests (id, app_id, type, status, command, returns, created_at, updated_at)
        values ('${address}', 'app', 'collection', 'completed', '{}', 0, 1, 1)`);
      await sql(`insert into collections (address, app_id, request_id, type, hosting, soulbound, name, symbol, minted, reserved,
          owner, metadata, service_may_mint, service_is_steward, metadata_frozen, listed, block_number, created_at)
        values ('${address}', 'app', '${address}', '${type}', 'hosted', 0, 'c', 'c', 0, 0, 'o', '{}', 1, 1, 0, 1, 1, 1)`);
    }
    const most = (2n ** 128n - 1n).toString();
    for (const [contract, id, supply, block] of [
      [FIRST, 1, most, 5],
      [FIRST, 2, most, 6],
      [FIRST, 3, "0", 6],
      [FIRST, 4, "12", "null"],
      [THIRD, 1, "1", 5],
    ]) {
      await sql(`insert into nfts (contract, token_id, supply, reserved, minted_block, minted_at)
        values ('${contract}', '${id}', '${supply}', '0', ${block}, 1)`);
    }
    await openWith(place.url, MIGRATIONS);
    expect(await sql("select address, copies, royalty_frozen from collections order by seq")).to.deep.equal([
      { address: FIRST, copies: (2n ** 129n - 2n).toString(), royalty_frozen: null },
      { address: SECOND, copies: "0", royalty_frozen: null },
      { address: THIRD, copies: null, royalty_frozen: null },
    ]);
  });
});
