import { sqlAddress } from "../shape.ts";
const METADATA = `'{"name":"Token ' || i || '","description":"One of many tokens.","image":"ipfs://bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi/1.png","attributes":[{"trait_type":"Colour","value":"green"}]}'`;
const OWNER = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
const BODY_TIME = "2026-01-01T00:00:00.000Z";
/** The statements that fill a migrated database. Their number does not depend on the number of rows. */
export function statementsOf(filling) {
    return [
        ...items(filling),
        ...accounts(filling),
        ...sending(filling),
        ...tokens(filling),
        ...history(filling),
        ...events(filling),
    ];
}
/** One row for each token, with what several tables repeat. */
function items({ shape, dialect, app }) {
    const { pad, hash, numbers } = dialect;
    const of = shape.sql();
    return [
        `create temporary table items as
     select i, ${of.batch} as batch, ${of.block} as block, ${of.place} as place,
            case when ${of.isOther} then 1 else 0 end as is_other, case when ${of.isFailed} then 1 else 0 end as is_failed,
            case when ${of.isOther} then 'other-' || (${of.otherApp}) else '${app}' end as app,
            ${sqlAddress("collection", of.collection, pad)} as contract, cast(${of.tokenId} as text) as token_id,
            ${sqlAddress("wallet", of.wallet, pad)} as owner, ${hash("'request-' || i")} as request_id,
            '0x' || ${hash(`'transaction-' || (${of.batch})`)} as transaction_hash
       from ${numbers(shape.tokens)}`,
    ];
}
function accounts({ shape, dialect, app, now }) {
    const { pad, numbers } = dialect;
    const time = now.toString();
    return [
        `insert into apps (id, name, created_at) select 'other-' || (i - 1), 'other-' || (i - 1), ${time} from ${numbers(shape.otherApps)}`,
        `insert into wallets (address, app_id, user_identifier, path, created_at)
     select ${sqlAddress("wallet", "i - 1", pad)}, '${app}', 'user-' || i, '0/0/' || i, ${time} from ${numbers(shape.wallets + 1)}`,
        `insert into wallets (address, app_id, user_identifier, path, created_at)
     select ${sqlAddress("wallet", `${shape.otherWallets.toString()} + i - 1`, pad)}, 'other-' || (i - 1), 'user-' || i, '0/1/' || i, ${time}
       from ${numbers(shape.otherApps)}`,
        `insert into counters (key, slot, value) select 'wallets:' || app_id, 0, count(*) from wallets group by app_id`,
    ];
}
function sending({ shape, dialect, nonce, now }) {
    const { hash, numbers, numbered } = dialect;
    const time = now.toString();
    const first = (nonce - shape.batches - 1).toString();
    // As after pruning: without signed transactions and lists of requests.
    return [
        `insert into batches (id, lane, nonce, status, size, block_number, gas_used, fee_wei, cost_day, ran, keeps_raw, keeps_items, created_at)
     ${numbered} select batch, 0, ${first} + batch, 'closed', count(*), min(block), 4480100, '5730967682450400', 1, 1, 0, 0, ${time}
       from items group by batch order by batch`,
        `insert into attempts (batch_id, hash, raw, max_fee_per_gas, max_priority_fee_per_gas, gas_limit, created_at, sent_at)
     select i, '0x' || ${hash("'transaction-' || i")}, null, '1640002664', '1000000000', '16777216', ${time}, ${time}
       from ${numbers(shape.batches)}`,
        `insert into requests (seq, id, app_id, type, status, command, number, batch_id, returns, nft_collection, nft_token_id,
                           transaction_hash, block_number, error_code, gas_used, fee_wei, created_at, updated_at)
     ${numbered} select i, request_id, app, 'mint', case is_failed when 1 then 'failed' else 'completed' end,
            '{"kind":"mint-erc721","collection":"' || contract || '","to":"' || owner || '","metadata":' || ${METADATA} || '}',
            '18499256123898130248' || ${dialect.pad("i")}, batch, 0, contract, case is_failed when 0 then token_id end,
            transaction_hash, block, case is_failed when 1 then 'execution_reverted' end, 44801, '57309676824504', ${time}, ${time}
       from items order by i`,
        `insert into counters (key, slot, value)
     select 'requests:' || app_id || ':' || status || ':' || type, 0, count(*) from requests group by app_id, status, type`,
    ];
}
function tokens({ shape, dialect, app, now }) {
    const { pad, numbers, numbered, hash } = dialect;
    const time = now.toString();
    const tenth = shape.tenth.toString();
    const made = `'Bench', 'BEN', 0, '${OWNER}', '{}', 1, 1, 0, 1, 1, ${time}`;
    return [
        `insert into collections (address, app_id, request_id, type, hosting, soulbound, minted, name, symbol, reserved, owner, metadata,
                              service_may_mint, service_is_steward, metadata_frozen, listed, block_number, created_at)
     select contract, app, min(request_id), 'ERC721', 'hosted', 0, count(*), ${made} from items group by contract, app
     union all select '${shape.editions}', '${app}', ${hash("'request-1'")}, 'ERC1155', 'hosted', 0, 1, ${made}`,
        `insert into counters (key, slot, value) select 'collections:' || app_id, 0, count(*) from collections group by app_id`,
        `insert into nfts (seq, contract, token_id, request_id, supply, reserved, metadata, minted_block, minted_at)
     ${numbered} select i, contract, token_id, case is_failed when 0 then request_id end, '1', '0',
            case is_failed when 0 then ${METADATA} end, block, ${time} from items order by i`,
        `insert into nfts (seq, contract, token_id, supply, reserved, minted_block, minted_at)
     ${numbered} select ${shape.tokens.toString()} + 1, '${shape.editions}', '1', '${tenth}', '0', 1, ${time}`,
        `insert into counters (key, slot, value) select 'nfts:' || contract, 0, count(*) from nfts group by contract`,
        `insert into holdings (seq, contract, token_id, owner, quantity, reserved, since_block)
     ${numbered} select i, contract, token_id, owner, '1', '0', block from items order by i`,
        `insert into holdings (seq, contract, token_id, owner, quantity, reserved, since_block)
     ${numbered} select ${shape.tokens.toString()} + i, '${shape.editions}', '1', ${sqlAddress("holder", "i", pad)}, '1', '0', 1
       from ${numbers(shape.tenth)} order by i`,
        `insert into counters (key, slot, value) select 'holdings:' || owner, 0, count(*) from holdings group by owner`,
        `insert into counters (key, slot, value)
     select 'holdings:' || owner || ':' || contract, 0, count(*) from holdings group by owner, contract`,
        `insert into counters (key, slot, value)
     select 'owners:' || contract || ':' || token_id, 0, count(*) from holdings group by contract, token_id`,
    ];
}
function history({ shape, dialect, now }) {
    const { pad, numbers, numbered, hash } = dialect;
    const time = now.toString();
    const columns = `(id, contract, token_id, type, quantity, from_address, to_address, transaction_hash, block_number, log_index,
                    sub_index, timestamp, request_id)`;
    const afterTokens = `${shape.tokens.toString()} + i`;
    const afterEditions = `${(shape.tokens + shape.tenth).toString()} + i`;
    return [
        `insert into transfers ${columns}
     ${numbered} select i, contract, token_id, 'mint', '1', null, owner, transaction_hash, block, i, 0, ${time},
            case is_failed when 0 then request_id end from items order by i`,
        `insert into transfers ${columns}
     ${numbered} select ${afterTokens}, '${shape.editions}', '1', 'mint', '1', null, ${sqlAddress("holder", "i", pad)},
            '0x' || ${hash("'edition-' || i")}, ${shape.sql().block}, 2000000 + i, 0, ${time}, null from ${numbers(shape.tenth)} order by i`,
        `insert into transfers ${columns}
     ${numbered} select ${afterEditions}, '${shape.largeCollection}', '1', 'transfer', '1', ${sqlAddress("holder", "i", pad)},
            ${sqlAddress("holder", "i + 1", pad)}, '0x' || ${hash("'trade-' || i")}, ${shape.sql().block}, 3000000 + i, 0, ${time}, null
       from ${numbers(shape.tenth)} order by i`,
        `insert into wallet_history (wallet, transfer_id) select owner, i from items order by owner, i`,
        `insert into counters (key, slot, value) select 'history:' || wallet, 0, count(*) from wallet_history group by wallet`,
        `insert into counters (key, slot, value)
     select 'history:' || contract || ':' || token_id, 0, count(*) from transfers group by contract, token_id`,
    ];
}
/** Two for each request: `sent`, and the one that ends it. */
function events({ dialect, now }) {
    const { hash, numbered } = dialect;
    const id = `substr(${hash("'event-' || i || '-' || kind")}, 1, 36)`;
    const type = `case kind when 0 then 'sent' else case is_failed when 1 then 'error' else 'completed' end end`;
    const made = `case when kind = 0 then '' when is_failed = 1 then ',"error_code":"execution_reverted"' else ',"nft_collection":"' || contract || '","nft_token_id":' || token_id end`;
    const body = `'{"id":"' || id || '","type":"' || type || '","request_id":"' || request_id || '","request_type":"mint","transaction_hash":"' ||
     transaction_hash || '"' || made || ',"created_at":"${BODY_TIME}"}'`;
    return [
        `insert into events (seq, id, app_id, position, request_id, type, body, created_at)
     ${numbered} select 2 * i - 1 + kind, id, app, 2 * place - 1 + kind, request_id, type, ${body}, ${now.toString()}
       from (select items.*, kind, ${id} as id, ${type} as type, ${made} as made
               from items cross join (select 0 as kind union all select 1) as kinds) as both_kinds
      order by i, kind`,
        `insert into counters (key, slot, value) select 'events:' || app_id, 0, max(position) from events group by app_id`,
    ];
}
