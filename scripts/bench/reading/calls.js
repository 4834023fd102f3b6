import { COLLECTION_SIZE, requestId } from "./shape.ts";
/** Items of a full page, which is what the service gives by default. */
const PAGE = 30;
/** A cursor as the service writes it. The benchmark makes it, because walking to a deep page would take long. */
function cursor(listing, after, offset) {
    return Buffer.from(`${listing}.${after.toString()}.${offset.toString()}`).toString("base64url");
}
/** The calls that read. Deep pages are behind the middle of their listing. */
export function readingsOf(shape) {
    return [...wallets(shape), ...collections(shape), ...histories(shape), ...requests(shape), ...events(shape)];
}
function wallets(shape) {
    const large = `/v1/accounts/${shape.largeWallet}`;
    const total = shape.tenth;
    return [
        {
            what: "wallet contents",
            next: (choose) => ({
                path: `/v1/accounts/${shape.wallet(choose(0, shape.wallets - 1))}`,
                expected: {},
                list: "nfts",
            }),
        },
        { what: "wallet contents, large", next: () => ({ path: large, expected: { total, offset: 0 }, list: "nfts" }) },
        {
            what: "wallet contents, large, deep page",
            next: (choose) => {
                const offset = choose(Math.floor(total / 2), total - PAGE - 1);
                const path = `${large}?cursor=${cursor("contents", shape.ofLargeWallet(offset), offset)}`;
                return { path, expected: { total, offset }, list: "nfts" };
            },
        },
    ];
}
function collections(shape) {
    const large = `/v1/collections/${shape.largeCollection}`;
    const editions = `/v1/collections/${shape.editions}/1`;
    const total = shape.tokens / 2;
    return [
        {
            what: "collection page",
            next: (choose) => ({
                path: `/v1/collections/${shape.collection(choose(0, shape.collections - 1))}`,
                expected: { total: COLLECTION_SIZE },
                list: "nfts",
            }),
        },
        { what: "collection page, large", next: () => ({ path: large, expected: { total, offset: 0 }, list: "nfts" }) },
        {
            what: "collection page, large, deep page",
            next: (choose) => {
                const offset = choose(total / 2, total - PAGE - 1);
                return {
                    path: `${large}?cursor=${cursor("nfts", 2 * offset, offset)}`,
                    expected: { total, offset },
                    list: "nfts",
                };
            },
        },
        {
            what: "token page",
            next: (choose) => {
                const id = choose(2, total);
                return { path: `${large}/${id.toString()}`, expected: { token_id: id, type: "ERC721" } };
            },
        },
        {
            what: "token page, owners of an ERC1155 token",
            next: () => ({ path: editions, expected: { total: shape.tenth, type: "ERC1155" }, list: "owners" }),
        },
        {
            what: "token page, owners, deep page",
            next: (choose) => {
                const offset = choose(Math.floor(shape.tenth / 2), shape.tenth - PAGE - 1);
                const path = `${editions}?cursor=${cursor("owners", shape.tokens + offset, offset)}`;
                return { path, expected: { total: shape.tenth, offset }, list: "owners" };
            },
        },
    ];
}
/** Newest first. */
function histories(shape) {
    const ofWallet = (wallet) => `/v1/accounts/${wallet}/history`;
    const ofToken = (id) => `/v1/collections/${shape.largeCollection}/${id.toString()}/history`;
    const total = shape.tenth;
    return [
        {
            what: "wallet history",
            next: (choose) => ({
                path: ofWallet(shape.wallet(choose(0, shape.wallets - 1))),
                expected: { offset: 0 },
                list: "history",
            }),
        },
        {
            what: "wallet history, large",
            next: () => ({ path: ofWallet(shape.largeWallet), expected: { total, offset: 0 }, list: "history" }),
        },
        {
            what: "wallet history, large, deep page",
            next: (choose) => {
                const place = choose(PAGE + 1, Math.max(PAGE + 1, Math.floor(total / 2)));
                const offset = total - place + 1;
                const path = `${ofWallet(shape.largeWallet)}?cursor=${cursor("wallet_history", shape.ofLargeWallet(place), offset)}`;
                return { path, expected: { total, offset }, list: "history" };
            },
        },
        {
            what: "token history",
            next: (choose) => ({
                path: ofToken(choose(2, shape.tokens / 2)),
                expected: { total: 1, next: null },
                list: "history",
                items: 1,
            }),
        },
        {
            what: "token history, large, deep page",
            next: (choose) => {
                const place = choose(PAGE + 1, Math.max(PAGE + 1, Math.floor(total / 2)));
                const offset = total - place + 1;
                const path = `${ofToken(1)}?cursor=${cursor("token_history", shape.tokens + shape.tenth + place, offset)}`;
                return { path, expected: { total: total + 1, offset }, list: "history" };
            },
        },
    ];
}
/** Newest first. */
function requests(shape) {
    const total = shape.ofApp(shape.tokens);
    const { failed } = shape;
    const failedOnes = "/v1/requests?status=failed";
    return [
        {
            what: "request lookup",
            next: (choose) => {
                const id = requestId(ownRequest(shape, choose(1, shape.tokens)));
                return { path: `/v1/requests/${id}`, expected: { request_id: id, type: "mint" } };
            },
        },
        {
            what: "request list",
            next: () => ({ path: "/v1/requests", expected: { total, offset: 0 }, list: "requests" }),
        },
        {
            what: "request list, deep page",
            next: (choose) => {
                const after = ownRequest(shape, choose(2 * PAGE, shape.tokens / 2));
                const offset = total - shape.ofApp(after - 1);
                return {
                    path: `/v1/requests?cursor=${cursor("requests", after, offset)}`,
                    expected: { total, offset },
                    list: "requests",
                };
            },
        },
        {
            what: "request list, failed ones",
            next: () => ({ path: failedOnes, expected: { total: failed, offset: 0 }, list: "requests" }),
        },
        {
            what: "request list, failed ones, deep page",
            next: (choose) => {
                const place = choose(PAGE + 1, Math.max(PAGE + 1, Math.floor(failed / 2)));
                const offset = failed - place + 1;
                const path = `${failedOnes}&cursor=${cursor("requests", shape.failedRequest(place), offset)}`;
                return { path, expected: { total: failed, offset }, list: "requests" };
            },
        },
    ];
}
/** Oldest first. */
function events(shape) {
    const last = 2 * shape.ofApp(shape.tokens);
    const page = (after) => ({
        path: `/v1/events?after=${Buffer.from(`events.${after.toString()}`).toString("base64url")}`,
        expected: { next: Buffer.from(`events.${(after + PAGE).toString()}`).toString("base64url") },
        list: "events",
    });
    return [
        { what: "events feed", next: () => page(0) },
        { what: "events feed, deep page", next: (choose) => page(choose(last / 2, last - PAGE)) },
    ];
}
/** A request of the measured app: this one, or the one before it. */
function ownRequest(shape, token) {
    return shape.isOfApp(token) ? token : token - 1;
}
/** @throws Error when the answer is not what it must be. */
export function check({ path, expected, list, items = PAGE }, text) {
    const answer = JSON.parse(text);
    const wrong = Object.entries(expected).filter(([name, value]) => answer[name] !== value);
    if (wrong.length > 0)
        throw new Error(`${path}: ${JSON.stringify(Object.fromEntries(wrong))} was expected in ${text.slice(0, 300)}`);
    if (list === undefined)
        return;
    const found = answer[list];
    if (!Array.isArray(found) || found.length !== items)
        throw new Error(`${path}: "${list}" must have ${items.toString()} items: ${text.slice(0, 300)}`);
}
