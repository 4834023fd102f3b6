import { expect } from "chai";

import { limitOf, type ProviderLimit, waitOfHeader } from "../../../api/chain/limits.ts";

/** Answers of providers and nodes to `eth_getLogs`. */
const LOG_ANSWERS: [string, number, string, ProviderLimit][] = [
  [
    "Alchemy",
    -32_600,
    "Under the Free tier plan, you can make eth_getLogs requests with up to a 10 block range. Based on your parameters, this block range should work: [0x1, 0xa].",
    "blocks",
  ],
  [
    "Alchemy",
    -32_602,
    "Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range and no limit on the response size, or you can request any block range with a cap of 10K logs in the response.",
    "results",
  ],
  ["Alchemy", 429, "Your app has exceeded its compute units per second capacity.", "rate"],
  ["Ankr", -32_600, "block range is too wide", "blocks"],
  ["Avalanche", -32_000, "requested too many blocks from 0 to 5000, maximum is set to 2048", "blocks"],
  ["Base", -32_014, "maximum 10 calls in 1 batch", "bundle"],
  ["Besu", -32_005, "Requested range exceeds maximum RPC range limit", "blocks"],
  ["Besu", -32_005, "Number of requests in batch exceeds limit", "bundle"],
  ["BNB", -32_005, "limit exceeded", "results"],
  ["Chainstack", -32_000, "Block range limit exceeded. See more details at the documentation", "blocks"],
  ["Chainstack", -32_005, "You've exceeded the RPS limit available on the current plan.", "rate"],
  [
    "Cloudflare",
    -32_047,
    "Invalid eth_getLogs request. 'fromBlock'-'toBlock' range too large. Max range: 800",
    "blocks",
  ],
  ["dRPC", 35, "ranges over 10000 blocks are not supported on freetier", "blocks"],
  ["dRPC", 31, "Batch of more than 3 requests are not allowed on free tier", "bundle"],
  ["Erigon", -32_000, "query block range exceeds server limit", "blocks"],
  ["Geth", -32_602, "exceed maximum block range: 5000", "blocks"],
  ["Geth", -32_602, "exceed max addresses or topics per search position", "addresses"],
  ["Geth", -32_600, "batch too large", "bundle"],
  ["Geth", -32_003, "response too large", "results"],
  ["Geth", -32_002, "request timed out", "results"],
  ["Infura", -32_005, "query returned more than 10000 results. Try with this block range [0x1, 0x2].", "results"],
  ["Infura", -32_602, "range 1000000 exceeds limit of 10000", "blocks"],
  ["Infura", -32_005, "project ID request rate exceeded", "rate"],
  ["Infura", -32_005, "daily request count exceeded, request rate limited", "rate"],
  ["Infura", -32_602, "This query contains 5006 filters. The current limit is 5000.", "addresses"],
  [
    "Morph",
    -32_000,
    "block range is larger than max block range, block range = 5120, max block range = 5000",
    "blocks",
  ],
  ["Nethermind", -32_005, "Too many logs requested", "results"],
  ["Nethermind", -32_005, "Too many concurrent requests.", "rate"],
  ["PublicNode", -32_701, "exceed maximum block range: 50000", "blocks"],
  ["QuickNode", -32_614, "eth_getLogs is limited to a 10,000 range", "blocks"],
  ["QuickNode", -32_007, "50/second request limit reached - reduce calls per second or upgrade your account", "rate"],
  ["QuickNode", -32_008, "Response is too big", "results"],
  ["Reth", -32_602, "query exceeds max block range 100000", "blocks"],
  ["Reth", -32_602, "query exceeds max results 20000, retry with the range 1-5", "results"],
  ["unknown words", -32_005, "?", "results"],
  ["unknown words", -32_600, "?", "results"],
  ["unknown words", -32_602, "invalid params", "results"],
  ["HTTP 413", 413, "HTTP status 413", "addresses"],
];

describe("limitOf", () => {
  for (const [provider, code, message, limit] of LOG_ANSWERS) {
    it(`is ${limit} for ${provider}: ${code.toString()} ${message.slice(0, 50)}`, () => {
      expect(limitOf({ code, message }, "eth_getLogs")).to.equal(limit);
    });
  }

  it("is no limit when a lagging node lacks a block", () => {
    for (const message of [
      ...["block range extends beyond current head block", "unknown block", "header not found"],
      ...["blockHash cannot be found", "block 36077340 not found", "Block with hash 0x11 not found"],
    ]) {
      expect(limitOf({ code: -32_602, message }, "eth_getLogs"), message).to.equal(null);
    }
  });

  it("is a rate limit for -32005 of any other call, but never about blocks", () => {
    expect(limitOf({ code: -32_005, message: "limit exceeded" }, "eth_blockNumber")).to.equal("rate");
    expect(limitOf({ code: -32_602, message: "range too large" }, "eth_blockNumber")).to.equal(null);
  });

  it("is never decided by words of a call that runs a contract, which can revert with any text", () => {
    const message = "execution reverted: too many requests, rate limit, batch too large";
    for (const method of ["eth_call", "eth_estimateGas", "eth_sendRawTransaction"]) {
      for (const code of [3, -32_000, -32_005, -32_015, -32_603])
        expect(limitOf({ code, message }, method)).to.equal(null);
      for (const code of [429, -32_007]) expect(limitOf({ code, message: "" }, method)).to.equal("rate");
    }
  });
});

describe("retryAfterOf", () => {
  const now = Date.parse("Sun, 22 Nov 2026 04:00:00 GMT");
  const cases: [string | null, number | null][] = [
    [null, null],
    ["1", 1_000],
    ["0.5", 500],
    [" 30 ", 30_000],
    ["Sun, 22 Nov 2026 04:00:10 GMT", 10_000],
    ["Sun, 22 Nov 2026 03:00:00 GMT", 0],
    ["soon", null],
    ["", null],
    ["999999999", 300_000],
    ["Fri, 31 Dec 9999 23:59:59 GMT", 300_000],
  ];
  for (const [header, wait] of cases) {
    it(`reads ${String(header)} as ${String(wait)} ms`, () => {
      expect(waitOfHeader(header, now)).to.equal(wait);
    });
  }
});
