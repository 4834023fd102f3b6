import { AdaptiveSize } from "../shared/adaptive-size.ts";
import { QueryTooLarge, type RpcError } from "./errors.ts";

/** Sizes of log queries. They become smaller when a provider refuses them. */
export interface LogLimits {
  /** Blocks in one query. */
  blocks: AdaptiveSize;
  /** Addresses in one query. */
  addresses: AdaptiveSize;
  /** With more addresses than this, queries name no address, and the logs are filtered here. */
  topicsAbove: number;
}

/** First and largest sizes of log queries. */
export interface LogQuerySizes {
  blocks: number;
  addresses: number;
  topicsAbove: number;
}

const USUAL_SIZES: LogQuerySizes = { blocks: 500, addresses: 500, topicsAbove: 2_000 };

export function createLogLimits({ blocks, addresses, topicsAbove } = USUAL_SIZES): LogLimits {
  return { blocks: new AdaptiveSize(blocks), addresses: new AdaptiveSize(addresses), topicsAbove };
}

/** A log query that the provider refused: `QueryTooLarge` if a smaller one may pass. */
export function refusedQuery(error: RpcError): RpcError {
  const limit = limitOf(error, "eth_getLogs");
  return limit === null || limit === "rate" || limit === "bundle" ? error : new QueryTooLarge(error, limit);
}

/**
 * What a provider's error says about its limits. The execution API defines neither codes nor messages for them, so this file,
 * and no other, lists those of providers and nodes. A message that is not listed is judged by its code.
 */
export type ProviderLimit =
  /** Calls in a time. */
  | "rate"
  /** Calls in one HTTP request. */
  | "bundle"
  /** Addresses in one log query, or the size of the request. */
  | "addresses"
  /** Blocks in one log query. */
  | "blocks"
  /** Logs that a query finds, the size of the answer, or the time that it takes. */
  | "results";

/** HTTP statuses as codes: some providers answer with the bare status. */
const TOO_MANY_REQUESTS = 429;
const PAYLOAD_TOO_LARGE = 413;

/** Words of any call. The first line that matches decides. */
const WORDS: [ProviderLimit, RegExp][] = [
  // They call a bundle a batch: Geth, Besu ("requests in batch exceeds"), Erigon, dRPC ("batch of more than 3 requests"), Base
  // ("calls in 1 batch")
  ["bundle", /batch (is )?too large|in batch|in 1 batch|batch of more than|batch (size|limit)|batch .*exceed/i],
  // Infura ("request rate exceeded", "daily request count exceeded"), Alchemy ("compute units per second capacity"),
  // QuickNode ("50/second request limit reached", "credits limited to"), Chainstack ("RPS limit"), Ankr, Nethermind
  // ("too many concurrent requests"), Cloudflare
  [
    "rate",
    /rate.?limit|rate exceeded|too many (concurrent )?(requests|calls)|request count exceeded|per second|\/second|\/sec\b|\brps\b|throughput|compute units|over (its|your|the) (rate )?limit|credits limited|quota|(calls|requests) (per|limit)|capacity exceeded/i,
  ],
];

/** Words of `eth_getLogs`. The first line that matches decides. */
const LOG_WORDS: [ProviderLimit, RegExp][] = [
  // Geth ("exceed max addresses or topics"), Infura ("contains 5006 filters"), others ("specify less number of address")
  [
    "addresses",
    /max addresses|(number|amount) of address|too many addresses|contains \d+ filters|request (entity|body)/i,
  ],
  // Geth, Infura ("query returned more than 10000 results"), Alchemy ("log response size exceeded"), Reth ("exceeds max
  // results"), Nethermind ("too many logs"), QuickNode ("response is too big"), Geth and Infura on time ("query timeout")
  [
    "results",
    /more than [\d,]+ (results|logs)|response size|max results|too many (results|logs)|(response|results?|answer)( is| are)? too (big|large)|exceeds? .*logs|logs .*exceed|timed? ?out|deadline exceeded/i,
  ],
  // Alchemy ("up to a 10 block range"), Infura ("range 100000 exceeds limit"), QuickNode ("limited to a 10,000 range"), Ankr
  // ("block range is too wide"), Besu ("range exceeds maximum"), BSC and PublicNode ("exceed maximum block range"), dRPC
  // ("ranges over 10000 blocks"), Cloudflare ("max range: 800"), Avalanche ("requested too many blocks"), Erigon, Reth
  ["blocks", /\branges?\b|too many blocks|max(imum)? (allowed )?(number of )?(requested )?blocks|blocks? limit/i],
];
/** A lagging node does not have the block yet, or a reorg has dropped it. */
const NOT_A_LIMIT =
  /beyond (the )?(current )?(chain )?head|unknown block|header not found|block.* (not|cannot be) found/i;

/** Codes that mean a limit, also without known words. EIP-1474 names only -32005: "limit exceeded". */
const LIMIT_EXCEEDED = -32_005;
/**
 * Codes of refused log queries: invalid request or parameters (the service's queries are valid, so their size is refused),
 * QuickNode, PublicNode, Cloudflare, dRPC.
 */
const LOG_CODES: ReadonlySet<number> = new Set([-32_600, -32_602, -32_614, -32_701, -32_047, 35]);

/**
 * Methods that run a contract's code. The contract chooses the text of a revert, and can make a node give up with -32005. So for
 * these methods, only codes that always mean a rate limit count.
 */
const RUNS_CODE: ReadonlySet<string> = new Set(["eth_call", "eth_estimateGas", "eth_sendRawTransaction"]);
/** HTTP 429, QuickNode (two), Ankr. */
const RATE_CODES: ReadonlySet<number> = new Set([TOO_MANY_REQUESTS, -32_007, -32_012, -32_090]);

/** Which limit an error reports. Null: none. */
export function limitOf(error: { code: number; message: string }, method: string): ProviderLimit | null {
  const { code, message } = error;
  if (RUNS_CODE.has(method)) return RATE_CODES.has(code) ? "rate" : null;
  if (code === TOO_MANY_REQUESTS) return "rate";
  const general = WORDS.find(([, words]) => words.test(message))?.[0];
  if (general !== undefined) return general;
  if (method !== "eth_getLogs") return code === LIMIT_EXCEEDED ? "rate" : null;
  if (code === PAYLOAD_TOO_LARGE) return "addresses";
  if (NOT_A_LIMIT.test(message)) return null;
  const specific = LOG_WORDS.find(([, words]) => words.test(message))?.[0];
  return specific ?? (code === LIMIT_EXCEEDED || LOG_CODES.has(code) ? "results" : null);
}

/** Longest wait that is granted to a provider, in milliseconds. */
const LONGEST_WAIT = 300_000;

/** Milliseconds of a `Retry-After` header: seconds or a date. Null: there is none, or it cannot be read. */
export function waitOfHeader(header: string | null, now: number): number | null {
  if (header === null) return null;
  const text = header.trim();
  const wait = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isFinite(wait) ? Math.min(Math.max(wait, 0), LONGEST_WAIT) : null;
}
