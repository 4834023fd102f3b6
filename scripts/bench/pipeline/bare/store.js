import BetterSqlite3 from "better-sqlite3";
import pg from "pg";
const CONTENTS = `
  select h.contract, h.token_id, h.quantity, n.token_uri, n.metadata, n.minted_at, c.name, c.type
    from holdings h
    join nfts n on n.contract = h.contract and n.token_id = h.token_id
    join collections c on c.address = h.contract`;
const WALLET = "select address, user_identifier, created_at from wallets";
const CONNECTIONS = 10;
export function openSqlite(read, written) {
    const database = new BetterSqlite3(written);
    database.pragma("journal_mode = WAL");
    database.pragma("synchronous = FULL");
    database.exec("create table requests (seq integer primary key, id text unique, command text, created_at integer)");
    const insert = database.prepare("insert into requests (id, command, created_at) values (?, ?, ?)");
    const reading = new BetterSqlite3(read, { readonly: true });
    const query = reading.prepare(`${CONTENTS} where h.owner = ? order by h.seq limit 30`);
    const wallet = reading.prepare(`${WALLET} where app_id = ? and user_identifier = ?`);
    return {
        insert: database.transaction((group) => {
            for (const { id, command } of group)
                insert.run(id, command, Date.now());
        }),
        contents: (owner) => query.all(owner),
        wallet: (app, user) => wallet.get(app, user),
    };
}
export async function openPostgres(url) {
    const pool = new pg.Pool({ connectionString: url, max: CONNECTIONS });
    await pool.query("create table bare_requests (seq bigint generated always as identity primary key, id text unique, command text, created_at bigint)");
    return {
        insert: async (group) => {
            // One statement is one commit.
            await pool.query({
                name: "insert",
                text: "insert into bare_requests (id, command, created_at) select *, $3::bigint from unnest($1::text[], $2::text[])",
                values: [group.map(({ id }) => id), group.map(({ command }) => command), Date.now()],
            });
        },
        contents: async (owner) => {
            const text = `${CONTENTS} where h.owner = $1 order by h.seq limit 30`;
            const { rows } = await pool.query({ name: "contents", text, values: [owner] });
            return rows;
        },
        wallet: async (app, user) => {
            const text = `${WALLET} where app_id = $1 and user_identifier = $2`;
            const { rows } = await pool.query({ name: "wallet", text, values: [app, user] });
            return rows[0];
        },
    };
}
