import { join } from "node:path";
import BetterSqlite3 from "better-sqlite3";
import pg from "pg";
const COLUMNS = "address text not null unique, path text not null, user_identifier text unique";
export async function openBareWallets(databases, folder) {
    return databases.engine === "sqlite" ? openSqlite(folder) : openPostgres(await databases.create(folder));
}
function openSqlite(folder) {
    const database = new BetterSqlite3(join(folder, "bare-wallets.sqlite"));
    database.pragma("journal_mode = WAL");
    database.pragma("synchronous = FULL");
    database.exec(`create table bare_wallets (seq integer primary key, ${COLUMNS})`);
    const statement = database.prepare("insert into bare_wallets (address, path, user_identifier) values (?, ?, ?)");
    const insert = database.transaction((wallets) => {
        for (const { address, path, user } of wallets)
            statement.run(address, path, user);
    });
    return {
        insert: (wallets) => {
            insert(wallets);
            return Promise.resolve();
        },
        close: () => {
            database.close();
            return Promise.resolve();
        },
    };
}
async function openPostgres(url) {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(`create table bare_wallets (seq bigint generated always as identity primary key, ${COLUMNS})`);
    return {
        insert: async (wallets) => {
            // One statement is one commit.
            await client.query({
                name: "insert",
                text: "insert into bare_wallets (address, path, user_identifier) select * from unnest($1::text[], $2::text[], $3::text[])",
                values: [
                    wallets.map(({ address }) => address),
                    wallets.map(({ path }) => path),
                    wallets.map(({ user }) => user),
                ],
            });
        },
        close: () => client.end(),
    };
}
