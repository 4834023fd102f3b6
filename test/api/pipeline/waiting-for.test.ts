import { createServer, type ServerResponse } from "node:http";

import { expect } from "chai";
import { parseEther } from "ethers";

import type { Shape } from "../../../client/client.ts";
import type { WaitingFor } from "../../../api/domain/waiting-for.ts";
import { LANE_STUCK } from "../../../api/domain/conditions.ts";
import { connectRelay } from "../../../api/chain/relay-administration.ts";
import { withLocalOwner } from "../../../api/chain/local-contracts.ts";
import { readLane } from "../../../api/store/sending/lanes.ts";
import { listenOnLoopback } from "../../../scripts/scene/loopback.ts";
import { ProgrammableReceiver__factory } from "../../../types/ethers-contracts/factories/mocks/ProgrammableReceiver__factory.ts";
import { eventually } from "../../support/eventually.ts";
import { NodesScene, RECIPIENT } from "../../support/nodes-scene.ts";
import type { OwnService } from "../../support/own-service.ts";
import { rejectionOf } from "../../support/rejection.ts";
import { useService } from "../../support/use-service.ts";
import { jsonOfCli, runCli } from "../cli/support/run.ts";
import { lost, onBroadcast } from "../relayer/support/broadcasts.ts";

const GWEI = 10n ** 9n;
const FEES = { MAX_FEE_GWEI: "1000", REPLACE_SECONDS: "1" };

function hex(value: bigint): string {
  return `0x${value.toString(16)}`;
}

/** What an app sees of its request and of the service. */
function looks(moneta: OwnService) {
  const { api } = moneta;
  const request = (id: string) => api.ok<Shape<"Request">>("GET", `/v1/requests/${id}`);
  return {
    sending: (word: string) =>
      eventually(async () => ((await api.ok("GET", "/v1/summary"))["sending"] === word ? true : undefined)),
    /** The request says so alone, and in the list. */
    waits: (id: string, status: string, word: WaitingFor) =>
      eventually(async () => {
        const { requests } = await api.ok<{ requests: Shape<"Request">[] }>("GET", "/v1/requests?limit=10");
        const found = [await request(id), requests.find(({ request_id }) => request_id === id)];
        return found.every((one) => one?.["status"] === status && one["waiting_for"] === word) ? true : undefined;
      }),
    ends: async (id: string) => {
      expect(await api.settled(id)).to.include({ status: "completed", waiting_for: null });
    },
  };
}

describe("what requests wait for", () => {
  // Each test stops the service in another way.
  const moneta = useService({ per: "test", proxy: true, settings: FEES, tuned: { rebroadcastSeconds: 1 } });
  const { api } = moneta;
  const { waits, sending, ends } = looks(moneta);
  let collection: string;

  beforeEach(async () => {
    collection = await api.collection({ type: "ERC721" });
  });

  const mint = (more: { to_address?: string; image?: string; copy_media?: boolean } = {}) =>
    api.accept("/v1/nfts", { collection_address: collection, to_address: RECIPIENT, ...more });
  const fund = async (amount: bigint) => {
    const lane = await readLane(moneta.service.database.read, 0);
    await moneta.fund(lane?.address ?? "", amount);
  };
  const baseFee = async (gwei: bigint) => {
    await moneta.provider.send("hardhat_setNextBlockBaseFeePerGas", [hex(gwei * GWEI)]);
    await moneta.provider.send("evm_mine", []);
  };

  it("is fees_too_high while gas costs more than MAX_FEE_GWEI", async () => {
    await fund(parseEther("100"));
    await baseFee(1_500n);
    await sending("fees_too_high");
    const id = await mint();
    await waits(id, "pending", "fees_too_high");
    await sending("fees_too_high");
    await baseFee(1n);
    await ends(id);
    await sending("ok");
  });

  it("is low_funds with an empty lane, and with one that cannot pay for its transaction", async () => {
    await fund(0n);
    const id = await mint();
    await waits(id, "pending", "low_funds");
    await sending("low_funds");
    await fund(1n);
    await waits(id, "processing", "low_funds");
    await fund(parseEther("100"));
    await ends(id);
    await sending("ok");
  });

  it("is paused while the relay is paused", async () => {
    await withLocalOwner(moneta.node.url, async (owner) => {
      const relay = connectRelay(moneta.service.contracts.relay, owner);
      await (await relay.pause()).wait();
      const id = await mint();
      await waits(id, "pending", "paused");
      await sending("paused");
      await (await relay.unpause()).wait();
      await ends(id);
    });
  });

  it("is media while a picture is copied", async () => {
    const held: ServerResponse[] = [];
    const server = await listenOnLoopback(createServer((_request, response) => held.push(response)));
    try {
      const id = await mint({ image: `${server.url}/cat.png`, copy_media: true });
      await eventually(() => Promise.resolve(held[0]));
      await waits(id, "pending", "media");
    } finally {
      await server.stop();
    }
  });

  it("is simulation while the node does not answer what a receiver does", async () => {
    const receiver = await new ProgrammableReceiver__factory(await moneta.provider.getSigner(3)).deploy();
    moneta.intercept = ({ method }) => (method === "eth_estimateGas" ? new Promise(() => undefined) : undefined);
    const id = await mint({ to_address: await receiver.getAddress() });
    await waits(id, "pending", "simulation");
  });

  it("is gas_limit for a request that fits into no transaction, until its operator ends it, and the others go on", async () => {
    // Enough for a mint, and too little for a collection with long URIs.
    await moneta.provider.send("evm_setBlockGasLimit", [hex(1_200_000n)]);
    await moneta.provider.send("evm_mine", []);
    const nonce = async () => (await readLane(moneta.service.database.read, 0))?.next_nonce;
    const before = await nonce();
    const uri = `https://example.com/${"a".repeat(2_000)}/{id}`;
    const long = { type: "ERC1155", name: "Large", symbol: "L", base_uri: uri, collection_uri: uri } as const;
    const id = await api.accept("/v1/collections", long);
    await waits(id, "pending", "gas_limit");
    const parked = () =>
      moneta.service.database.read.selectFrom("parked_rows").selectAll().where("id", "=", id).executeTakeFirst();
    const { reason } = await eventually(parked);
    expect(reason).to.match(/^The request needs about \d+ gas, and one transaction can have \d+\.$/);
    expect(await nonce()).to.equal(before);

    const minted = await mint();
    await ends(minted);
    const refused = await rejectionOf(runCli(moneta.env, "request", "fail", minted));
    expect(refused.message).to.contain("is final already");
    // A lane may be looking at it just now.
    const failed = await eventually(() =>
      jsonOfCli<object>(moneta.env, "request", "fail", id).catch((error: unknown) => {
        expect(String(error)).to.contain("Run this command again.");
        return undefined;
      }),
    );
    expect(failed).to.deep.equal({ request_id: id, status: "failed", error_code: "ended_by_operator" });
    expect(await api.settled(id)).to.include({ error_code: "ended_by_operator", transaction_hash: null });
    expect(await parked()).to.equal(undefined);
  });

  it("is queued while the lane asks the node, and confirmations while no block has the transaction", async () => {
    const fees = Promise.withResolvers<undefined>();
    moneta.intercept = ({ method }) => (method === "eth_maxPriorityFeePerGas" ? fees.promise : undefined);
    const id = await mint();
    await waits(id, "pending", "queued");
    onBroadcast(moneta, lost);
    fees.resolve(undefined);
    await waits(id, "processing", "confirmations");
    await moneta.service.database.write((trx) =>
      trx
        .updateTable("batches")
        .set({ created_at: Date.now() - LANE_STUCK - 1 })
        .where("status", "=", "open")
        .execute(),
    );
    await waits(id, "processing", "lane_stuck");
    await sending("lane_stuck");
    moneta.intercept = null;
    await ends(id);
  });

  it("is confirmations while its block is not deep enough, and node_unavailable when the node fails then", async () => {
    await moneta.restart({ CONFIRMATIONS: "3" });
    const id = await mint();
    await waits(id, "processing", "confirmations");
    await eventually(async () => (await api.ok("GET", `/v1/requests/${id}`))["block_number"] ?? undefined);
    moneta.intercept = () => ({ error: { code: -32_000, message: "?" } });
    await waits(id, "processing", "node_unavailable");
    await waits(await mint(), "pending", "node_unavailable");
    await sending("unknown");
    moneta.intercept = null;
    await moneta.provider.send("evm_mine", []);
    await moneta.provider.send("evm_mine", []);
    await ends(id);
  });

  it("is unknown while no process sends requests", async () => {
    await moneta.restart({ ROLES: "api" });
    const id = await mint();
    await waits(id, "pending", "unknown");
    await sending("unknown");
    await moneta.restart();
    await ends(id);
  });
});

describe("what requests wait for, given several nodes", () => {
  let scene: NodesScene;
  // The receipts would show which node lies.
  const moneta = useService({ start: false, per: "test", settings: { VERIFY_RECEIPTS: "false" } });
  const { waits, sending, ends } = looks(moneta);

  beforeEach(async () => {
    scene = new NodesScene(moneta);
    await scene.start(2);
  });
  afterEach(() => scene.stop());

  const mint = () => moneta.api.accept("/v1/nfts", { collection_address: scene.collection, to_address: RECIPIENT });

  it("is node_unavailable while all are dead", async () => {
    scene.fail(1, { kind: "dead" });
    scene.fail(2, { kind: "dead" });
    const id = await mint();
    await waits(id, "pending", "node_unavailable");
    await sending("unknown");
    scene.fail(1, null);
    scene.fail(2, null);
    await ends(id);
  });

  it("is nodes_disagree while they contradict each other", async () => {
    scene.fail(2, { kind: "forgets-logs", above: await scene.head(), of: "everything" });
    const id = await mint();
    await waits(id, "processing", "nodes_disagree");
    scene.fail(2, null);
    await ends(id);
  });
});
