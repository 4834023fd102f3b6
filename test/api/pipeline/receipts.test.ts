import { expect } from "chai";
import { id } from "ethers";

import { type MetaKey, readMeta } from "../../../api/store/db/meta.ts";
import { type Interception, type RpcProxy, startRpcProxy } from "../../../scripts/scene/rpc-proxy.ts";
import { eventually } from "../../support/eventually.ts";
import { type LogLine, logLines } from "../../support/log-lines.ts";
import { useService } from "../../support/use-service.ts";

const RECIPIENT = `0x${"a1".repeat(20)}`;

interface Shown {
  topics: string[];
  logIndex: string;
  status: string;
  number: string;
}

/** A check of receipts needs a setting, and the test reads the log. */
describe("the check of receipts", () => {
  const { logger, lines } = logLines();
  const moneta = useService({ settings: { VERIFY_RECEIPTS: "true" }, proxy: true, logger });
  const { api } = moneta;
  let collection = "";

  before(async () => {
    collection = await api.collection({ type: "ERC721" });
  });
  beforeEach(() => {
    lines.length = 0;
  });

  const mint = () => api.accept("/v1/nfts", { collection_address: collection, to_address: RECIPIENT });
  const conditions = (name: string) =>
    (lines as (LogLine & { condition?: string })[]).filter(({ condition }) => condition === name);

  /** The node's own answer to a call, changed by the liar. */
  const lying =
    (methods: readonly string[], change: (shown: unknown) => unknown): Interception =>
    async ({ method, params }) =>
      methods.includes(method)
        ? { result: change(await moneta.node.provider.send(method, params)) }
        : method === "eth_getBlockReceipts"
          ? { error: { code: -32601, message: "method not found" } }
          : undefined;

  it("settles what the receipts prove", async () => {
    expect((await api.client.waitFor(await mint())).status).to.equal("completed");
    expect(conditions("receipts_unproven")).to.deep.equal([]);
    expect(conditions("receipts_differ")).to.deep.equal([]);
  });

  const LOGS = ["eth_getLogs"];
  const RECEIPTS = ["eth_getBlockReceipts", "eth_getTransactionReceipt"];
  const LIES: [string, readonly string[], (shown: unknown) => unknown][] = [
    ["forgets all logs", LOGS, () => []],
    ["forgets a log", LOGS, (shown) => (shown as Shown[]).slice(1)],
    [
      "invents a log",
      LOGS,
      (shown) => {
        const logs = shown as Shown[];
        const last = logs.at(-1);
        return last === undefined ? logs : [...logs, { ...last, logIndex: "0xff" }];
      },
    ],
    [
      "changes the order of logs",
      LOGS,
      // The transfer comes before the relay's own events.
      (shown) => (shown as Shown[]).map((log) => (isTransfer(log) ? { ...log, logIndex: "0xff" } : log)),
    ],
    [
      "changes the status of a receipt",
      RECEIPTS,
      (shown) => [shown].flat().map((one) => ({ ...(one as Shown), status: "0x0" }))[0],
    ],
    [
      "has a wrong root",
      ["eth_getBlockByNumber"],
      (shown) => (shown === null ? null : { ...(shown as Shown), receiptsRoot: `0x${"00".repeat(32)}` }),
    ],
  ];
  for (const [words, methods, change] of LIES) {
    describe(`given a node that ${words}`, () => {
      it("stores nothing of the block, says so, and goes on when the node tells the truth", async () => {
        const before = await moneta.checkpoint();
        moneta.intercept = lying(methods, change);
        const request = await mint();
        const [line] = await eventually(() =>
          Promise.resolve(conditions("receipts_differ").length > 0 ? conditions("receipts_differ") : undefined),
        );
        expect(line).to.include({ node: 1 });
        expect(await moneta.checkpoint()).to.equal(before);
        expect((await api.ok<{ status: string }>("GET", `/v1/requests/${request}`)).status).to.equal("processing");
        moneta.intercept = null;
        expect((await api.client.waitFor(request)).status).to.equal("completed");
        expect(conditions("receipts_unproven")).to.deep.equal([]);
      });
    });
  }

  describe("given a node without eth_getBlockReceipts", () => {
    it("reads one receipt after the other", async () => {
      moneta.intercept = lying([], (shown) => shown);
      expect((await api.client.waitFor(await mint())).status).to.equal("completed");
      expect(conditions("receipts_unproven")).to.deep.equal([]);
    });
  });
});

/** What a node does that wants to switch the check off. */
const METHODS = ["eth_getBlockReceipts", "eth_getTransactionReceipt"];
const SWITCHES: [string, readonly string[], (shown: Shown) => unknown][] = [
  [
    "adds a field to headers",
    ["eth_getBlockByNumber"],
    (shown) => ({ ...shown, ofFuture: "0x1", extraData: "0xbad0" }),
  ],
  ["leaves a field of headers out", ["eth_getBlockByNumber"], (shown) => ({ ...shown, logsBloom: undefined })],
  ["gives receipts an unknown type", METHODS, (shown) => ({ ...shown, type: "0x55" })],
  ["gives no receipts", METHODS, () => undefined],
];

type Line = LogLine & { condition?: string; node?: number; msg?: string };

/** Each test needs settings and a database of its own: whether blocks were proven before is stored there. */
describe("a node that wants to switch the check of receipts off", () => {
  const { logger, lines } = logLines();
  const moneta = useService({ proxy: true, start: false, per: "test", logger });
  let third: RpcProxy | null = null;

  beforeEach(() => {
    lines.length = 0;
  });
  afterEach(async () => {
    await third?.stop();
    third = null;
  });

  const told = () =>
    (lines as Line[]).flatMap(({ condition, node }) => (condition === undefined ? [] : [[condition, node]]));
  const meta = async (key: MetaKey) => readMeta(moneta.service.database.read, key);
  const threeNodes = async () => {
    third = await startRpcProxy(moneta.node.url);
    return { RPC_URL: "", RPC_URLS: [moneta.env["RPC_URL"] ?? "", moneta.node.url, third.url].join() };
  };
  const switchedOff =
    (methods: readonly string[], change: (shown: Shown) => unknown): Interception =>
    async ({ method, params }) => {
      if (!methods.includes(method)) return undefined;
      const shown = (await moneta.node.provider.send(method, params).catch(() => undefined)) as
        Shown | Shown[] | null | undefined;
      const none = { error: { code: -32601, message: "method not found" } };
      if (shown === null) return { result: null };
      if (shown === undefined) return none;
      const changed = Array.isArray(shown) ? shown.map(change) : change(shown);
      return changed === undefined || (Array.isArray(changed) && changed.includes(undefined))
        ? none
        : { result: changed };
    };
  const accept = (collection: string) =>
    moneta.api.accept("/v1/nfts", { collection_address: collection, to_address: RECIPIENT });

  for (const mode of ["true", "auto"]) {
    for (const [words, methods, change] of SWITCHES) {
      describe(`given VERIFY_RECEIPTS=${mode}, and blocks of this chain were proven`, () => {
        it(`stores nothing of a block whose only node ${words}`, async () => {
          await moneta.start({ VERIFY_RECEIPTS: mode });
          const collection = await moneta.api.collection({ type: "ERC721" });
          expect(await meta("receipts_proven")).to.be.a("string");
          const before = await moneta.checkpoint();
          moneta.intercept = switchedOff(methods, change);
          const request = await accept(collection);
          await eventually(() => Promise.resolve(told().length > 0 ? true : undefined));
          expect(told()).to.deep.equal([["receipts_unproven", 1]]);
          expect(await meta("receipts_unproven")).to.be.a("string");
          expect(await moneta.checkpoint()).to.equal(before);
          moneta.intercept = null;
          expect((await moneta.api.client.waitFor(request)).status).to.equal("completed");
          expect(await meta("receipts_unproven")).to.equal(null);
        });

        it(`goes on with the proofs of other nodes when the first of three ${words}`, async () => {
          await moneta.start({ VERIFY_RECEIPTS: mode, ...(await threeNodes()) });
          const collection = await moneta.api.collection({ type: "ERC721" });
          moneta.intercept = switchedOff(methods, change);
          expect((await moneta.api.client.waitFor(await accept(collection))).status).to.equal("completed");
          expect(told()).to.deep.equal([]);
          // The check is still on.
          const off = switchedOff(methods, change);
          moneta.intercept = (call) => (call.method === "eth_getLogs" ? { result: [] } : off(call));
          expect((await moneta.api.client.waitFor(await accept(collection))).status).to.equal("completed");
          expect(told()).to.deep.include(["receipts_differ", 1]);
        });
      });
    }
  }

  describe("given VERIFY_RECEIPTS=auto, and no block of this chain was ever proven", () => {
    it("goes on, says so, and remembers it for doctor", async () => {
      moneta.intercept = switchedOff(...rules());
      await moneta.start({ VERIFY_RECEIPTS: "auto" });
      await moneta.api.collection({ type: "ERC721" });
      expect(told()).to.deep.equal([["receipts_unproven", 1]]);
      expect(await meta("receipts_unproven")).to.contain("ofFuture");
      expect(await meta("receipts_proven")).to.equal(null);
    });

    it("proves what nodes of a later version agree about", async () => {
      third = await startRpcProxy(moneta.node.url);
      third.intercept = switchedOff(...rules());
      moneta.intercept = switchedOff(...rules());
      await moneta.start({
        VERIFY_RECEIPTS: "auto",
        RPC_URL: "",
        RPC_URLS: `${moneta.env["RPC_URL"] ?? ""},${third.url}`,
      });
      await moneta.api.collection({ type: "ERC721" });
      expect(told()).to.deep.equal([]);
      expect(await meta("receipts_proven")).to.be.a("string");
    });
  });

  describe("given VERIFY_RECEIPTS=auto, and nodes none of which can prove a block", () => {
    it("goes on with the condition although blocks were proven, because the first does not stand alone", async () => {
      third = await startRpcProxy(moneta.node.url);
      const [, methods, change] = SWITCHES[2] ?? expect.fail();
      await moneta.start({ RPC_URL: "", RPC_URLS: `${moneta.env["RPC_URL"] ?? ""},${third.url}` });
      const collection = await moneta.api.collection({ type: "ERC721" });
      moneta.intercept = third.intercept = switchedOff(methods, change);
      expect((await moneta.api.client.waitFor(await accept(collection))).status).to.equal("completed");
      expect(told()).to.deep.equal([["receipts_unproven", 1]]);
    });
  });

  for (const mode of ["true", "auto"]) {
    describe(`given VERIFY_RECEIPTS=${mode}, and a chain with receipts outside of the root`, () => {
      it("proves the others, and goes on", async () => {
        const outside = (shown: Shown) => ({
          ...shown,
          transactionHash: `0x${"ab".repeat(32)}`,
          cumulativeGasUsed: "0x0",
          logs: [],
        });
        moneta.intercept = async ({ method, params }) => {
          if (method !== "eth_getBlockReceipts") return undefined;
          const [block] = (await moneta.node.provider
            .send("eth_getBlockByHash", [...params, false])
            .then((one: unknown) => [one])) as [{ transactions: string[] }];
          const shown = await Promise.all(
            block.transactions.map(
              (one) => moneta.node.provider.send("eth_getTransactionReceipt", [one]) as Promise<Shown>,
            ),
          );
          const last = shown.at(-1);
          const index = `0x${shown.length.toString(16)}`;
          return { result: last === undefined ? [] : [...shown, { ...outside(last), transactionIndex: index }] };
        };
        await moneta.start({ VERIFY_RECEIPTS: mode });
        await moneta.api.collection({ type: "ERC721" });
        expect(told()).to.deep.equal([]);
        expect(await meta("receipts_proven")).to.be.a("string");
      });
    });
  }
});

/** A chain whose headers have a field of a later version. */
function rules(): [readonly string[], (shown: Shown) => unknown] {
  return [["eth_getBlockByNumber"], (shown) => ({ ...shown, ofFuture: "0x1", stateRoot: `0x${"00".repeat(32)}` })];
}

/** Two nodes need settings, of which the first lies. */
describe("the check of receipts, with two nodes", () => {
  const { logger, lines } = logLines();
  const moneta = useService({ settings: { VERIFY_RECEIPTS: "true" }, proxy: true, start: false, logger });

  it("puts a node that forgets a log aside, and goes on with the other at once", async () => {
    await moneta.start({ RPC_URL: "", RPC_URLS: `${moneta.env["RPC_URL"] ?? ""},${moneta.node.url}` });
    const collection = await moneta.api.collection({ type: "ERC721" });
    moneta.intercept = ({ method }) => (method === "eth_getLogs" ? { result: [] } : undefined);
    await moneta.api.completed("/v1/nfts", { collection_address: collection, to_address: RECIPIENT });
    const told = (lines as (LogLine & { condition?: string; node?: number })[]).filter(({ condition }) => condition);
    expect(told.map(({ condition, node }) => [condition, node])).to.deep.include(["receipts_differ", 1]);
    expect(told.map(({ condition }) => condition)).not.to.include("receipts_unproven");
  });
});

function isTransfer({ topics }: Shown): boolean {
  return topics.length === 4 && topics[0] === id("Transfer(address,address,uint256)");
}
