import { createHash } from "node:crypto";
/*
 * What a database with N tokens contains. Every row follows from its number, so the same rules are written twice: as SQL,
 * to make all rows with a few statements, and as TypeScript, to know which answers are right. Token `i` (1 to N) has one
 * request, one transfer and one holding. In addition there are N/10 holders of one ERC1155 token, and N/10 transfers of one
 * ERC721 token.
 *
 * One collection has half of the tokens, the others 100 each. One wallet has a tenth of them, the others about 43 each.
 */
/** The kinds of addresses. No two addresses are equal. */
const KINDS = { wallet: 1, collection: 2, holder: 3 };
/** A prime number with nine digits or more: multiples of another number spread over it, and none comes twice. */
const PRIME = 1_000_000_007;
const FACTOR = 982_451_653;
/** Spreads the tokens over the wallets. */
const WALLET_FACTOR = 7_919;
/** One token of twenty belongs to another app. */
const OTHER = 19;
/** One request of twenty failed; its token was minted outside of the service. */
const FAILED = 7;
/** Of ten tokens, the one that the large wallet holds. */
const OF_LARGE_WALLET = 4;
const OTHER_APPS = 9;
const OTHER_COLLECTIONS = 1_000_000;
const OTHER_WALLETS = 2_000_000;
/** Tokens of a collection of normal size. */
export const COLLECTION_SIZE = 100;
export const BATCH_SIZE = 100;
/** Blocks that the rows name, however many rows there are. */
export const BLOCKS = 100;
const LARGE_COLLECTION = 0;
const EDITIONS = 1;
const FIRST_COLLECTION = 2;
const LARGE_WALLET = 0;
/** Only digits, so the address is its own EIP-55 form. */
function addressOf(kind, number) {
    const spread = (BigInt(number) * BigInt(FACTOR)) % BigInt(PRIME);
    return `0x${spread.toString().padStart(10, "0")}${KINDS[kind].toString()}${"0".repeat(29)}`;
}
/** The same as `addressOf`. @param pad writes a number with ten digits. */
export function sqlAddress(kind, number, pad) {
    const spread = `(cast((${number}) as bigint) * ${FACTOR.toString()}) % ${PRIME.toString()}`;
    return `'0x' || ${pad(spread)} || '${KINDS[kind].toString()}${"0".repeat(29)}'`;
}
export function requestId(token) {
    return createHash("sha256").update(`request-${token.toString()}`).digest("hex");
}
export class Shape {
    tokens;
    /** @param tokens a multiple of 1,000, so that every share is a whole number. */
    constructor(tokens) {
        if (tokens % 1_000 !== 0)
            throw new Error("the number of tokens must be a multiple of 1,000");
        this.tokens = tokens;
    }
    /** Wallets of the measured app, without the large one. It has no factor in common with the 20 of the rules above. */
    get wallets() {
        return this.tokens / 50 + 1;
    }
    /** Whole collections of normal size. */
    get collections() {
        return Math.floor((this.tokens * 9) / 20 / COLLECTION_SIZE);
    }
    get tenth() {
        return this.tokens / 10;
    }
    get batches() {
        return this.tokens / BATCH_SIZE;
    }
    /** The expressions for token `i`. */
    sql() {
        const normal = `((i / 20) * 9 + (i % 20 - 1) / 2)`;
        const isOther = `i % 20 = ${OTHER.toString()}`;
        const other = `(i / ${(20 * COLLECTION_SIZE).toString()})`;
        const size = COLLECTION_SIZE.toString();
        return {
            isOther,
            isFailed: `i % 20 = ${FAILED.toString()}`,
            otherApp: `${other} % ${OTHER_APPS.toString()}`,
            collection: `case when i % 2 = 0 then ${LARGE_COLLECTION.toString()} when ${isOther} then ${OTHER_COLLECTIONS.toString()} + ${other}
                   else ${FIRST_COLLECTION.toString()} + ${normal} / ${size} end`,
            tokenId: `case when i % 2 = 0 then i / 2 when ${isOther} then (i / 20) % ${size} + 1 else ${normal} % ${size} + 1 end`,
            wallet: `case when i % 10 = ${OF_LARGE_WALLET.toString()} then ${LARGE_WALLET.toString()}
               when ${isOther} then ${OTHER_WALLETS.toString()} + ${other} % ${OTHER_APPS.toString()}
               else 1 + (i * ${WALLET_FACTOR.toString()}) % ${this.wallets.toString()} end`,
            batch: `1 + (i - 1) / ${BATCH_SIZE.toString()}`,
            block: `1 + (i - 1) / ${(this.tokens / BLOCKS).toString()}`,
            /** Position of the request among those of its app. Each has two events. */
            place: `case when ${isOther} then ((i / 20) / ${(COLLECTION_SIZE * OTHER_APPS).toString()}) * ${size} + (i / 20) % ${size} + 1
              else i - (i + 1) / 20 end`,
        };
    }
    otherApps = OTHER_APPS;
    otherWallets = OTHER_WALLETS;
    largeCollection = addressOf("collection", LARGE_COLLECTION);
    editions = addressOf("collection", EDITIONS);
    largeWallet = addressOf("wallet", LARGE_WALLET);
    /** @param index from 0 on. */
    collection(index) {
        return addressOf("collection", FIRST_COLLECTION + index);
    }
    /** @param index from 0 on. */
    wallet(index) {
        return addressOf("wallet", 1 + index);
    }
    /** How many of the tokens 1 to `last` the large wallet holds. */
    inLargeWallet(last) {
        return Math.floor((last + 10 - OF_LARGE_WALLET) / 10);
    }
    /** The token that is the large wallet's n-th. @param n from 1 on. */
    ofLargeWallet(n) {
        return (n - 1) * 10 + OF_LARGE_WALLET;
    }
    /** How many of the requests 1 to `last` the measured app made. */
    ofApp(last) {
        return last - Math.floor((last + 20 - OTHER) / 20);
    }
    isOfApp(token) {
        return token % 20 !== OTHER;
    }
    get failed() {
        return this.tokens / 20;
    }
    /** The n-th failed request. @param n from 1 on. */
    failedRequest(n) {
        return (n - 1) * 20 + FAILED;
    }
}
