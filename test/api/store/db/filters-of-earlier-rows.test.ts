import { expect } from "chai";

import { searchName, traitKey } from "../../../../api/store/listings/search.ts";
import { MIGRATIONS } from "../../../../api/store/db/migrate.ts";
import { createTestDatabase, type DatabasePlace } from "../../../support/database.ts";
import { rawSql } from "../../../support/raw-sql.ts";
import { openWith } from "../support/later-version.ts";

const CATS = "0x00000000000000000000000000000000000000C1";
const [ALICE, BOB] = ["0x00000000000000000000000000000000000000A1", "0x00000000000000000000000000000000000000B1"];

describe("the migration that makes filters", () => {
  let place: DatabasePlace;
  beforeEach(async () => {
    place = await createTestDatabase({ schema: "none" });
  });
  afterEach(() => place.remove());

  it("finds the traits of tokens and the wallets of requests that exist", async () => {
    const before = Object.entries(MIGRATIONS).filter(([name]) => name < "0014");
    await openWith(place.url, Object.fromEntries(before));
    const sql = (text: string) => rawSql(place.url, text);
    const quoted = (value: unknown) => `'${JSON.stringify(value).replaceAll("'", "''")}'`;
    await sql("insert into apps (id, name, created_at) values ('app', 'app', 1)");
    const hostile = { attributes: [{ to: BOB, from: BOB, trait_type: "a", value: '"to":"0x00"' }] };
    const commands = [
      ["mint", { kind: "mint-erc721", collection: CATS, to: ALICE, metadata: hostile }],
      ["transfer", { kind: "transfer", contract: CATS, from: ALICE, to: BOB, tokenId: "1" }],
      ["metadata", { kind: "announce-metadata", collection: CATS, tokenId: null }],
    ] as const;
    for (const [index, [type, command]] of commands.entries()) {
      await sql(`insert into requests (id, app_id, type, status, command, returns, created_at, updated_at)
        values ('${index.toString()}', 'app', '${type}', 'completed', ${quoted(command)}, 0, 1, 1)`);
    }
    const attributes = (...all: unknown[]) => ({ attributes: all });
    const tokens: [metadata: unknown, supply: number, block: number | null][] = [
      [attributes({ trait_type: "fur", value: "red" }, { trait_type: "age", value: 7 }), 1, 5],
      [attributes({ trait_type: "fur", value: "burnt" }), 0, 5],
      [attributes({ trait_type: "fur", value: "reserved" }), 0, null],
      [
        attributes(...Array.from({ length: 1_000 }, (_, index) => ({ trait_type: `t${index.toString()}`, value: 1 }))),
        1,
        5,
      ],
      [{ attributes: { trait_type: "no list" } }, 1, 5],
      [attributes({ trait_type: "fur", value: "x".repeat(300_000) }), 1, 5],
    ];
    for (const [index, [metadata, supply, block]] of tokens.entries()) {
      await sql(`insert into nfts (contract, token_id, supply, reserved, metadata, minted_block, minted_at)
        values ('${CATS}', '${index.toString()}', '${supply.toString()}', '0', ${quoted(metadata)}, ${String(block)}, 1)`);
    }
    // A damaged row must not stop the update.
    await sql(`insert into requests (id, app_id, type, status, command, returns, created_at, updated_at)
      values ('damaged', 'app', 'transfer', 'completed', '{"from":', 0, 1, 1)`);
    await sql(`insert into nfts (contract, token_id, supply, reserved, metadata, minted_block, minted_at)
      values ('${CATS}', 'damaged', '1', '0', '{"attributes":[{"trait_type":"fur","value":', 5, 1)`);
    await openWith(place.url, MIGRATIONS);
    expect(await sql("select from_address, to_address from requests order by seq")).to.deep.equal([
      { from_address: null, to_address: ALICE },
      { from_address: ALICE, to_address: BOB },
      { from_address: null, to_address: null },
      { from_address: null, to_address: null },
    ]);
    const stored = (await sql(
      "select token_id, trait from token_traits join nfts on nfts.seq = token_seq order by token_id, trait",
    )) as { token_id: string; trait: string }[];
    expect(stored.filter(({ token_id: id }) => id === "0").map((row) => row.trait)).to.deep.equal(
      [traitKey(CATS, "fur", "red"), traitKey(CATS, "age", "7")].sort(),
    );
    const many = stored.filter(({ token_id: id }) => id === "3").map((row) => row.trait);
    expect(many).to.deep.equal(
      Array.from({ length: 32 }, (_, index) => traitKey(CATS, `t${index.toString()}`, "1")).sort(),
    );
    expect(stored).to.have.length(34);
  });

  it("finds the names of tokens that exist, as new ones get them", async () => {
    const before = Object.entries(MIGRATIONS).filter(([name]) => name < "0015");
    await openWith(place.url, Object.fromEntries(before));
    const names = [
      "Cat {token_id}",
      "{token_id}".repeat(100),
      "😀".repeat(100),
      `x${"😀".repeat(100)}`,
      "\0",
      "\ud800",
      "",
      7,
      null,
    ];
    const metadata = [
      ...names.map((name) => JSON.stringify({ attributes: [{ name: "no" }], name })),
      '{"name":"damaged',
      "null",
    ];
    for (const [index, text] of metadata.entries()) {
      await rawSql(
        place.url,
        `insert into nfts (contract, token_id, supply, reserved, metadata, minted_block, minted_at)
         values ('${CATS}', '${(10n ** 70n + BigInt(index)).toString()}', '1', '0', '${text}', 5, 1)`,
      );
    }
    await openWith(place.url, MIGRATIONS);
    const stored = await rawSql(place.url, "select token_id, search_name from nfts order by seq");
    const expected = names.map((name, index) =>
      searchName({ name: name as string }, (10n ** 70n + BigInt(index)).toString()),
    );
    expect(expected.filter((name) => name !== null)).to.have.length(4);
    expect(stored.map(({ search_name: name }) => name)).to.deep.equal([...expected, null, null]);
  });
});
