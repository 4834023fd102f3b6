import { getAddress, toBeHex } from "ethers";
import { sql } from "kysely";
import { rowSet } from "../../../api/store/db/sql.ts";
import { until } from "../../scene/until.ts";
/** Address of the first collection that has no contract. */
const FIRST = 1n << 150n;
/** Makes the app follow contracts of others, and waits until the service knows their type. */
export async function followForeign(world, wallet, contracts) {
    for (const contract of contracts) {
        await world.load.send({ method: "GET", path: `/v1/accounts/${wallet}/${contract}` });
    }
    await until("the contracts of others to be followed", async () => {
        const call = { method: "GET", path: "/v1/contracts?limit=30" };
        const page = await world.load.send(call);
        return page.contracts.filter(({ state }) => state === "followed").length === contracts.length;
    });
}
/**
 * Registers collections that have no contract on the chain: copies of a collection's row with other addresses. The service
 * reads logs for them as for all others.
 */
export async function addCollections(database, like, count) {
    const addresses = Array.from({ length: count }, (_, index) => getAddress(toBeHex(FIRST + BigInt(index), 20)));
    await database.write((trx) => {
        const rows = addresses.map((address) => ({ address }));
        return sql `
      insert into collections (address, app_id, request_id, type, hosting, name, symbol, max_supply, soulbound, minted,
        reserved, owner, base_uri, collection_uri, metadata, service_may_mint, service_is_steward, metadata_frozen, listed,
        block_number, created_at)
      select input.address, app_id, request_id, type, hosting, name, symbol, max_supply, soulbound, 0,
        0, owner, base_uri, collection_uri, metadata, service_may_mint, service_is_steward, metadata_frozen, listed,
        block_number, created_at
        from ${rowSet(trx, { address: "text" }, rows)} as input cross join collections
       where collections.address = ${like}`.execute(trx);
    });
    return addresses;
}
