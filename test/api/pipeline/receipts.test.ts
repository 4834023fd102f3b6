import { expect } from "chai";
import { id } from "ethers";

import type { Interception } from "../../../scripts/scene/rpc-proxy.ts";
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

  describe("given headers with a field that this version does not know", () => {
    it("turns the check off, says so, and settles", async () => {
      const other = (shown: unknown) =>
        shown === null ? null : { ...(shown as Shown), ofFuture: "0x1", stateRoot: `0x${"00".repeat(32)}` };
      moneta.intercept = lying(["eth_getBlockByNumber"], other);
      expect((await api.client.waitFor(await mint())).status).to.equal("completed");
      expect(conditions("receipts_unproven")).to.have.length(1);
    });
  });
});

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
