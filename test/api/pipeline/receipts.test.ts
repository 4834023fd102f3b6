import { expect } from "chai";
import { id } from "ethers";

import { type MetaKey, readMeta } from "../../../api/store/db/meta.ts";
import { type Interception, type RpcProxy, startRpcProxy } from "../../../scripts/scene/rpc-proxy.ts";
import { eventually } from "../../support/eventually.ts";
import { logLines, type LogLine } from "../../support/log-lines.ts";
import type { OwnService } from "../../support/own-service.ts";
import { useService } from "../../support/use-service.ts";

const RECIPIENT = `0x${"a1".repeat(20)}`;
const NOT_FOUND = { error: { code: -32601, message: "method not found" } };

interface Shown {
  topics: string[];
  logIndex: string;
}
/** Methods, and what a node makes of each thing that it shows; undefined: it does not know the method. */
type Change = readonly [methods: readonly string[], change: (shown: Shown) => unknown];

const LOGS = ["eth_getLogs"];
const RECEIPTS = ["eth_getBlockReceipts", "eth_getTransactionReceipt"];
const HEADERS = ["eth_getBlockByNumber"];
/** A chain whose headers have a field of a later version. */
const LATER: Change = [HEADERS, (shown) => ({ ...shown, ofFuture: "0x1", stateRoot: `0x${"00".repeat(32)}` })];

/** The answers of the node, changed. */
function changed(moneta: OwnService, [methods, change]: Change): Interception {
  return async ({ method, params }) => {
    if (!methods.includes(method)) return undefined;
    const shown = (await moneta.node.provider.send(method, params).catch(() => undefined)) as
      Shown | Shown[] | null | undefined;
    if (shown === null) return { result: null };
    if (shown === undefined) return NOT_FOUND;
    const result = Array.isArray(shown) ? shown.map(change) : change(shown);
    return result === undefined || (Array.isArray(result) && result.includes(undefined)) ? NOT_FOUND : { result };
  };
}

/** What an app and the operator see of a service whose log is kept. */
function looks(moneta: OwnService, lines: LogLine[]) {
  return {
    collection: () => moneta.api.collection({ type: "ERC721" }),
    mint: (collection: string) =>
      moneta.api.accept("/v1/nfts", { collection_address: collection, to_address: RECIPIENT }),
    completes: async (request: string) => {
      expect((await moneta.api.client.waitFor(request)).status).to.equal("completed");
    },
    /** The conditions that were logged, and of which node. */
    told: () =>
      (lines as (LogLine & { condition?: string; node?: number })[]).flatMap(({ condition, node }) =>
        condition === undefined ? [] : [[condition, node]],
      ),
  };
}

describe("the check of receipts", () => {
  // It needs a setting, and the test reads the log.
  const { logger, lines } = logLines();
  const moneta = useService({ settings: { VERIFY_RECEIPTS: "true" }, proxy: true, logger });
  const { collection: create, mint, completes, told } = looks(moneta, lines);
  let collection = "";
  before(async () => {
    collection = await create();
  });
  beforeEach(() => {
    lines.length = 0;
  });

  it("settles what the receipts prove, also with a node that gives one receipt after the other", async () => {
    await completes(await mint(collection));
    moneta.intercept = ({ method }) => (method === "eth_getBlockReceipts" ? NOT_FOUND : undefined);
    await completes(await mint(collection));
    expect(told()).to.deep.equal([]);
  });

  /** The liar gets all logs of a query at once. */
  const ofAll = (change: (logs: Shown[]) => Shown[]): Interception => {
    return async ({ method, params }) => {
      if (method === "eth_getBlockReceipts") return NOT_FOUND;
      if (method !== "eth_getLogs") return undefined;
      return { result: change((await moneta.node.provider.send(method, params)) as Shown[]) };
    };
  };
  for (const [words, lie] of [
    ["forgets all logs", ofAll(() => [])],
    ["forgets a log", ofAll((logs) => logs.slice(1))],
    ["invents a log", ofAll((logs) => [...logs, ...logs.slice(-1).map((last) => ({ ...last, logIndex: "0xff" }))])],
    // The transfer comes before the relay's own events.
    [
      "changes the order of logs",
      changed(moneta, [LOGS, (log) => (isTransfer(log) ? { ...log, logIndex: "0xff" } : log)]),
    ],
    ["changes the status of a receipt", changed(moneta, [RECEIPTS, (shown) => ({ ...shown, status: "0x0" })])],
    ["has a wrong root", changed(moneta, [HEADERS, (shown) => ({ ...shown, receiptsRoot: `0x${"00".repeat(32)}` })])],
  ] as const) {
    it(`stores nothing of a block whose node ${words}, says so, and goes on when the node tells the truth`, async () => {
      const before = await moneta.checkpoint();
      moneta.intercept = lie;
      const request = await mint(collection);
      await eventually(() => Promise.resolve(told().length > 0 ? true : undefined));
      expect(await moneta.checkpoint()).to.equal(before);
      expect(await moneta.api.ok("GET", `/v1/requests/${request}`)).to.include({ status: "processing" });
      moneta.intercept = null;
      await completes(request);
      expect(new Set(told().map(String))).to.deep.equal(new Set(["receipts_differ,1"]));
    });
  }
});

/** What a node does that wants to switch the check off. */
const SWITCHES: Record<string, Change> = {
  "adds a field to headers": [HEADERS, (shown) => ({ ...shown, ofFuture: "0x1", extraData: "0xbad0" })],
  "leaves a field of headers out": [HEADERS, (shown) => ({ ...shown, logsBloom: undefined })],
  "gives receipts an unknown type": [RECEIPTS, (shown) => ({ ...shown, type: "0x55" })],
  "gives no receipts": [RECEIPTS, () => undefined],
};

describe("a node that wants to switch the check of receipts off", () => {
  // Each test needs settings and a database of its own: whether blocks were proven before is stored there.
  const { logger, lines } = logLines();
  const moneta = useService({ proxy: true, start: false, per: "test", logger });
  const { collection: create, mint, completes, told } = looks(moneta, lines);
  const others: RpcProxy[] = [];
  beforeEach(() => {
    lines.length = 0;
  });
  afterEach(async () => {
    for (const proxy of others.splice(0)) await proxy.stop();
  });
  const meta = (key: MetaKey) => readMeta(moneta.service.database.read, key);
  /** The first node, and others that a test can change, too. */
  const nodes = async (count: number) => {
    while (others.length < count - 1) others.push(await startRpcProxy(moneta.node.url));
    return { RPC_URL: "", RPC_URLS: [moneta.env["RPC_URL"] ?? "", ...others.map(({ url }) => url)].join() };
  };

  // What holds for a chain of which blocks were proven is the same in both modes.
  for (const [mode, words] of [
    ["true", "adds a field to headers"],
    ...Object.keys(SWITCHES).map((name) => ["auto", name] as const),
  ] as const) {
    const change = SWITCHES[words] ?? expect.fail();
    it(`given VERIFY_RECEIPTS=${mode}: stores nothing of a block whose only node ${words}, once blocks were proven`, async () => {
      await moneta.start({ VERIFY_RECEIPTS: mode });
      const collection = await create();
      expect(await meta("receipts_proven")).to.be.a("string");
      const before = await moneta.checkpoint();
      moneta.intercept = changed(moneta, change);
      const request = await mint(collection);
      await eventually(() => Promise.resolve(told().length > 0 ? true : undefined));
      expect(told()).to.deep.equal([["receipts_unproven", 1]]);
      expect(await meta("receipts_unproven")).to.be.a("string");
      expect(await moneta.checkpoint()).to.equal(before);
      moneta.intercept = null;
      await completes(request);
      expect(await meta("receipts_unproven")).to.equal(null);
    });

    it(`given VERIFY_RECEIPTS=${mode}: goes on with the proofs of others when the first of three ${words}`, async () => {
      await moneta.start({ VERIFY_RECEIPTS: mode, ...(await nodes(3)) });
      const collection = await create();
      const off = changed(moneta, change);
      moneta.intercept = off;
      await completes(await mint(collection));
      expect(told()).to.deep.equal([]);
      // The check is still on.
      moneta.intercept = (call) => (call.method === "eth_getLogs" ? { result: [] } : off(call));
      await completes(await mint(collection));
      expect(told()).to.deep.include(["receipts_differ", 1]);
      expect(told().map(([condition]) => condition)).not.to.include("receipts_unproven");
    });
  }

  it("goes on with a chain of which no block was ever proven, says so, and remembers it for doctor", async () => {
    moneta.intercept = changed(moneta, LATER);
    await moneta.start({ VERIFY_RECEIPTS: "auto" });
    await create();
    expect(told()).to.deep.equal([["receipts_unproven", 1]]);
    expect(await meta("receipts_unproven")).to.contain("ofFuture");
    expect(await meta("receipts_proven")).to.equal(null);
  });

  it("goes on when the node gives no receipts of a block at once, and the block has too many to read one by one", async () => {
    // As 0.3.0 has left it: it has stored blocks, and proven none.
    await moneta.start({ VERIFY_RECEIPTS: "false" });
    const collection = await create();
    moneta.intercept = async ({ method, params }) => {
      if (method === "eth_getBlockReceipts") return NOT_FOUND;
      if (method !== "eth_getBlockByNumber") return undefined;
      const block = (await moneta.node.provider.send(method, params)) as { transactions: string[] } | null;
      const others = Array.from({ length: 100 }, (_, index) => id(index.toString()));
      return { result: block === null ? null : { ...block, transactions: [...block.transactions, ...others] } };
    };
    await moneta.restart({ VERIFY_RECEIPTS: "auto" });
    await completes(await mint(collection));
    expect(told()).to.deep.equal([["receipts_unproven", 1]]);
    expect(await meta("receipts_unproven")).to.contain("at once");
  });

  it("proves what nodes of a later version agree about", async () => {
    const two = await nodes(2);
    for (const node of [moneta, ...others]) node.intercept = changed(moneta, LATER);
    await moneta.start({ VERIFY_RECEIPTS: "auto", ...two });
    await create();
    expect(told()).to.deep.equal([]);
    expect(await meta("receipts_proven")).to.be.a("string");
  });

  it("goes on with the condition if none of the nodes can prove a block, because the first does not stand alone", async () => {
    await moneta.start({ VERIFY_RECEIPTS: "auto", ...(await nodes(2)) });
    const collection = await create();
    for (const node of [moneta, ...others])
      node.intercept = changed(moneta, SWITCHES["gives receipts an unknown type"] ?? expect.fail());
    await completes(await mint(collection));
    expect(told()).to.deep.equal([["receipts_unproven", 1]]);
  });

  for (const mode of ["true", "auto"]) {
    it(`given VERIFY_RECEIPTS=${mode}, and a chain with receipts outside of the root: proves the others`, async () => {
      const send = (method: string, params: unknown[]) => moneta.node.provider.send(method, params) as Promise<unknown>;
      moneta.intercept = async ({ method, params }) => {
        if (method !== "eth_getBlockReceipts") return undefined;
        const block = (await send("eth_getBlockByHash", [...params, false])) as { transactions: string[] };
        const shown = await Promise.all(block.transactions.map((one) => send("eth_getTransactionReceipt", [one])));
        const outside = { transactionHash: `0x${"ab".repeat(32)}`, cumulativeGasUsed: "0x0", logs: [] };
        const transactionIndex = `0x${shown.length.toString(16)}`;
        const more = shown.slice(-1).map((last) => ({ ...(last as object), ...outside, transactionIndex }));
        return { result: [...shown, ...more] };
      };
      await moneta.start({ VERIFY_RECEIPTS: mode });
      await create();
      expect(told()).to.deep.equal([]);
      expect(await meta("receipts_proven")).to.be.a("string");
    });
  }
});

function isTransfer({ topics }: Shown): boolean {
  return topics.length === 4 && topics[0] === id("Transfer(address,address,uint256)");
}
