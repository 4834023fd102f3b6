import BetterSqlite3 from "better-sqlite3";
import pg from "pg";
const TABLES = `
  create table bare_transfers (contract text not null, token_id text not null, from_address text not null,
    to_address text not null, transaction_hash text not null, block_number bigint not null, log_index integer not null,
    primary key (block_number, log_index));
  create index bare_transfers_token on bare_transfers (contract, token_id, block_number, log_index);
  create table bare_holdings (contract text not null, token_id text not null, owner text not null,
    quantity bigint not null, primary key (contract, token_id, owner));
  create index bare_holdings_owner on bare_holdings (owner, contract);
  create table bare_checkpoint (block bigint not null);
  insert into bare_checkpoint values (0);`;
const CONFLICT = "on conflict (contract, token_id, owner) do update set quantity = bare_holdings.quantity + excluded.quantity";
const READ = `select contract, token_id as "tokenId", owner, quantity from bare_holdings where quantity > 0`;
export function openSqlite(file) {
    const database = new BetterSqlite3(file);
    database.pragma("journal_mode = WAL");
    database.pragma("synchronous = FULL");
    database.exec(TABLES);
    const pick = (columns) => Array.from({ length: columns }, (_, index) => `value ->> ${index.toString()}`).join();
    const transfer = database.prepare(`insert into bare_transfers select ${pick(7)} from jsonb_each(?)`);
    const holding = database.prepare(`insert into bare_holdings select ${pick(4)} from jsonb_each(?) where true ${CONFLICT}`);
    const gone = database.prepare(`delete from bare_holdings where quantity = 0 and (contract, token_id, owner) in
       (select value ->> 0, value ->> 1, value ->> 2 from jsonb_each(?))`);
    const checkpoint = database.prepare("update bare_checkpoint set block = ?");
    const commit = database.transaction((transfers, changes, to) => {
        transfer.run(JSON.stringify(transfers.map(valuesOf)));
        const rows = JSON.stringify(changes.map(({ contract, tokenId, owner, quantity }) => [contract, tokenId, owner, quantity]));
        holding.run(rows);
        gone.run(rows);
        checkpoint.run(to);
    });
    return {
        store: (...range) => {
            commit(...range);
            return Promise.resolve();
        },
        holdings: () => Promise.resolve(database.prepare(READ).all()),
        close: () => {
            database.close();
            return Promise.resolve();
        },
    };
}
export async function openPostgres(url) {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(TABLES);
    const query = (name, text, columns) => client.query({ name, text, values: columns });
    const columnsOf = (rows, count) => Array.from({ length: count }, (_, index) => rows.map((row) => row[index]));
    return {
        store: async (transfers, changes, checkpoint) => {
            await client.query("begin");
            await query("transfers", "insert into bare_transfers select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::int[])", columnsOf(transfers.map(valuesOf), 7));
            const rows = changes.map(({ contract, tokenId, owner, quantity }) => [contract, tokenId, owner, quantity]);
            await query("holdings", `insert into bare_holdings select * from unnest($1::text[], $2::text[], $3::text[], $4::bigint[]) ${CONFLICT}`, columnsOf(rows, 4));
            await query("gone", `delete from bare_holdings using unnest($1::text[], $2::text[], $3::text[]) as input (contract, token_id, owner)
          where quantity = 0 and bare_holdings.contract = input.contract and bare_holdings.token_id = input.token_id
            and bare_holdings.owner = input.owner`, columnsOf(rows, 3));
            await client.query("update bare_checkpoint set block = $1", [checkpoint]);
            await client.query("commit");
        },
        holdings: async () => (await client.query(READ)).rows,
        close: () => client.end(),
    };
}
function valuesOf(transfer) {
    const { contract, tokenId, from, to, transactionHash, blockNumber, logIndex } = transfer;
    return [contract, tokenId, from, to, transactionHash, blockNumber, logIndex];
}
