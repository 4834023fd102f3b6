import { sql } from "kysely";
import { ERC721Collection__factory } from "../../../contracts/generated/factories/ERC721Collection__factory.ts";
/** Tokens whose owner is asked on the chain. */
const SAMPLE = 50;
/**
 * Compares what the service has stored with the baseline's database and with the chain. Balances in contracts of others are
 * read in the background: one that is marked to be read counts as stored, but one that was read must be right.
 * @throws Error at the first difference.
 */
export async function compare(node, database, bare, collections) {
    const expected = (await bare.holdings()).map(keyOf);
    const held = await ownedIn(database, "select contract, token_id, owner from holdings");
    const marked = await ownedIn(database, "select contract, token_id, owner from uncertain_holdings");
    const stored = new Set([...held, ...marked].map(keyOf));
    const missing = expected.find((key) => !stored.has(key));
    if (missing !== undefined)
        throw new Error(`the service lacks a holding: ${missing}`);
    if (stored.size !== expected.length) {
        throw new Error(`the service has ${stored.size.toString()} holdings, the baseline ${expected.length.toString()}`);
    }
    for (const address of collections)
        await compareSupply(node, database, address);
    for (let index = 0; index < SAMPLE; index++) {
        const one = held[Math.floor((index * held.length) / SAMPLE)];
        if (one === undefined)
            continue;
        const owner = await ERC721Collection__factory.connect(one.contract, node.provider).ownerOf(one.tokenId);
        if (owner !== one.owner)
            throw new Error(`${one.owner} does not hold ${one.contract}/${one.tokenId}: ${owner} does`);
    }
}
async function compareSupply(node, database, address) {
    const minted = Number(await ERC721Collection__factory.connect(address, node.provider).totalMinted());
    const { rows } = await sql `
    select minted,
           (select count(*) from nfts where contract = ${address} and supply = '1') as tokens,
           (select count(*) from holdings where contract = ${address}) as holdings,
           (select count(*) from transfers where contract = ${address} and from_address is null) as mints
      from collections where address = ${address}`.execute(database.read);
    const figures = [rows[0]?.minted, rows[0]?.tokens, rows[0]?.holdings, rows[0]?.mints].map(Number);
    if (figures.some((figure) => figure !== minted)) {
        throw new Error(`${address} has ${minted.toString()} tokens; the service stored ${figures.join(", ")}`);
    }
}
async function ownedIn(database, query) {
    const { rows } = await sql.raw(query).execute(database.read);
    return rows.map(({ token_id: tokenId, ...row }) => ({ ...row, tokenId }));
}
function keyOf({ contract, tokenId, owner }) {
    return `${contract}/${tokenId}/${owner}`.toLowerCase();
}
