import { expect } from "chai";

import { searchName, traitKey } from "../../../../api/store/listings/search.ts";
import { MIGRATIONS } from "../../../../api/store/db/migrate.ts";
import { rawSql } from "../../../support/raw-sql.ts";
import { useDatabasePlace } from "../../../support/use-database.ts";
import { openWith } from "../support/later-version.ts";

const CATS = "0x00000000000000000000000000000000000000C1";
const [ALICE, BOB] = ["0x00000000000000000000000000000000000000A1", "0x00000000000000000000000000000000000000B1"];

describe("migrations of rows that exist", () => {
  const place = useDatabasePlace({ schema: "none" });

  const sql = (text: string) => rawSql(place.url, text);
  /** Makes the database of the version before this migration. */
  const openBefore = (name: string) =>
    openWith(place.url, Object.fromEntries(Object.entries(MIGRATIONS).filter(([migration]) => migration < name)));
  const migrate = () => openWith(place.url, MIGRATIONS);
  const addApp = () => sql("insert into apps (id, name, created_at) values ('app', 'app', 1)");
  const addRequest = (id: string, type: string, command: string) =>
    sql(`insert into requests (id, app_id, type, status, command, returns, created_at, updated_at)
      values ('${id}', 'app', '${type}', 'completed', ${quoted(command)}, 0, 1, 1)`);
  const addToken = (id: string, supply: number, metadata: string, block: number | null = 5) =>
    sql(`insert into nfts (contract, token_id, supply, reserved, metadata, minted_block, minted_at)
      values ('${CATS}', '${id}', '${supply.toString()}', '0', ${quoted(metadata)}, ${String(block)}, 1)`);

  it("add up amounts of 128 bits, without reserved tokens, and leave ERC721 and what is unknown empty", async () => {
    const [first, second, third] = ["0xerc1155", "0xempty", "0xerc721"];
    await openBefore("0011");
    await addApp();
    for (const [address, type] of [
      [first, "ERC1155"],
      [second, "ERC1155"],
      [third, "ERC721"],
    ] as const) {
      await addRequest(address, "collection", "{}");
      await sql(`insert into collections (address, app_id, request_id, type, hosting, soulbound, name, symbol, minted, reserved,
          owner, metadata, service_may_mint, service_is_steward, metadata_frozen, listed, block_number, created_at)
        values ('${address}', 'app', '${address}', '${type}', 'hosted', 0, 'c', 'c', 0, 0, 'o', '{}', 1, 1, 0, 1, 1, 1)`);
    }
    const most = (2n ** 128n - 1n).toString();
    for (const [contract, id, supply, block] of [
      [first, 1, most, 5],
      [first, 2, most, 6],
      [first, 3, "0", 6],
      [first, 4, "12", "null"],
      [third, 1, "1", 5],
    ] as const) {
      await sql(`insert into nfts (contract, token_id, supply, reserved, minted_block, minted_at)
        values ('${contract}', '${id.toString()}', '${supply}', '0', ${block.toString()}, 1)`);
    }
    await migrate();
    expect(await sql("select address, copies, royalty_frozen from collections order by seq")).to.deep.equal([
      { address: first, copies: (2n ** 129n - 2n).toString(), royalty_frozen: null },
      { address: second, copies: "0", royalty_frozen: null },
      { address: third, copies: null, royalty_frozen: null },
    ]);
  });

  it("let a database begin at block 0 that began one block before it", async () => {
    await openBefore("0020");
    await sql(
      "insert into meta (key, value) values ('checkpoint', '-1'), ('confirmed_block', '-1'), ('gas_shortage', '-1')",
    );
    await migrate();
    expect(await sql("select key, value from meta order by key")).to.deep.include.members([
      { key: "checkpoint", value: "0" },
      { key: "confirmed_block", value: "0" },
      { key: "gas_shortage", value: "-1" },
    ]);
  });

  it("find the quantities of requests, which media are to be copied again, and what a reorg has corrected", async () => {
    await openBefore("0023");
    await addApp();
    const hostile = { attributes: [{ quantity: "7", kind: "mint-erc1155" }] };
    const commands = [
      ["mint", { kind: "mint-erc721", collection: CATS, to: ALICE, metadata: hostile }],
      [
        "mint",
        { kind: "create-erc1155", collection: CATS, to: ALICE, tokenId: "1", quantity: "50", metadata: hostile },
      ],
      ["transfer", { kind: "transfer", contract: CATS, from: ALICE, to: BOB, tokenId: "1", quantity: "3" }],
      ["metadata", { kind: "announce-metadata", collection: CATS, tokenId: null }],
    ] as const;
    for (const [index, [type, command]] of commands.entries())
      await addRequest(index.toString(), type, JSON.stringify(command));
    await addRequest("damaged", "transfer", '{"from":');
    await sql("update requests set status = 'failed', error_code = 'media_too_large' where id = '0'");
    await sql(`insert into events (id, app_id, position, request_id, type, body, created_at)
      values ('event', 'app', 1, '1', 'corrected', '{}', 1)`);
    await migrate();
    const rows = await sql(`select quantity, cast(copies_media as text) as copies, cast(corrected as text) as corrected
      from requests order by seq`);
    expect(rows).to.deep.equal([
      { quantity: "1", copies: "1", corrected: "0" },
      { quantity: "50", copies: "0", corrected: "1" },
      { quantity: "3", copies: "0", corrected: "0" },
      { quantity: null, copies: "0", corrected: "0" },
      { quantity: null, copies: "0", corrected: "0" },
    ]);
  });

  it("find the traits of tokens and the wallets of requests, and pass over damaged rows", async () => {
    await openBefore("0014");
    await addApp();
    const hostile = { attributes: [{ to: BOB, from: BOB, trait_type: "a", value: '"to":"0x00"' }] };
    const commands = [
      ["mint", { kind: "mint-erc721", collection: CATS, to: ALICE, metadata: hostile }],
      ["transfer", { kind: "transfer", contract: CATS, from: ALICE, to: BOB, tokenId: "1" }],
      ["metadata", { kind: "announce-metadata", collection: CATS, tokenId: null }],
    ] as const;
    for (const [index, [type, command]] of commands.entries())
      await addRequest(index.toString(), type, JSON.stringify(command));
    const attributes = (...all: unknown[]) => ({ attributes: all });
    const many = Array.from({ length: 1_000 }, (_, index) => ({ trait_type: `t${index.toString()}`, value: 1 }));
    const tokens: [metadata: unknown, supply: number, block: number | null][] = [
      [attributes({ trait_type: "fur", value: "red" }, { trait_type: "age", value: 7 }), 1, 5],
      [attributes({ trait_type: "fur", value: "burnt" }), 0, 5],
      [attributes({ trait_type: "fur", value: "reserved" }), 0, null],
      [attributes(...many), 1, 5],
      [{ attributes: { trait_type: "no list" } }, 1, 5],
      [attributes({ trait_type: "fur", value: "x".repeat(300_000) }), 1, 5],
    ];
    for (const [index, [metadata, supply, block]] of tokens.entries())
      await addToken(index.toString(), supply, JSON.stringify(metadata), block);
    await addRequest("damaged", "transfer", '{"from":');
    await addToken("damaged", 1, '{"attributes":[{"trait_type":"fur","value":');
    await migrate();
    expect(await sql("select from_address, to_address from requests order by seq")).to.deep.equal([
      { from_address: null, to_address: ALICE },
      { from_address: ALICE, to_address: BOB },
      { from_address: null, to_address: null },
      { from_address: null, to_address: null },
    ]);
    const stored = (await sql(
      "select token_id, trait from token_traits join nfts on nfts.seq = token_seq order by token_id, trait",
    )) as { token_id: string; trait: string }[];
    const traitsOf = (token: string) => stored.filter(({ token_id: id }) => id === token).map((row) => row.trait);
    expect(traitsOf("0")).to.deep.equal([traitKey(CATS, "fur", "red"), traitKey(CATS, "age", "7")].sort());
    expect(traitsOf("3")).to.deep.equal(
      Array.from({ length: 32 }, (_, index) => traitKey(CATS, `t${index.toString()}`, "1")).sort(),
    );
    expect(stored).to.have.length(34);
  });

  it("find the names of tokens, as new ones get them", async () => {
    await openBefore("0015");
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
    const idOf = (index: number) => (10n ** 70n + BigInt(index)).toString();
    const metadata = names.map((name) => JSON.stringify({ attributes: [{ name: "no" }], name }));
    for (const [index, text] of [...metadata, '{"name":"damaged', "null"].entries())
      await addToken(idOf(index), 1, text);
    await migrate();
    const stored = await sql("select token_id, search_name from nfts order by seq");
    const expected = names.map((name, index) => searchName({ name: name as string }, idOf(index)));
    expect(expected.filter((name) => name !== null)).to.have.length(4);
    expect(stored.map(({ search_name: name }) => name)).to.deep.equal([...expected, null, null]);
  });
});

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
