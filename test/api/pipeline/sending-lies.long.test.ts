import { expect } from "chai";
import { id as topicOf, toQuantity, Transaction } from "ethers";

import { signTransaction } from "../../../api/chain/transaction.ts";
import { readContracts, readMeta } from "../../../api/store/db/meta.ts";
import { type Interception, type ProxiedCall, type RpcProxy, startRpcProxy } from "../../../scripts/scene/rpc-proxy.ts";
import { HostileERC721__factory } from "../../../types/ethers-contracts/factories/mocks/HostileERC721__factory.ts";
import { PlainERC721__factory } from "../../../types/ethers-contracts/factories/mocks/PlainERC721__factory.ts";
import { Relay__factory } from "../../../types/ethers-contracts/factories/Relay__factory.ts";
import { eventually } from "../../support/eventually.ts";
import { testKeys } from "../../support/test-keys.ts";
import { useService } from "../../support/use-service.ts";

/** What the lies are about. */
interface Place {
  collection: string;
  wallet: string;
  relay: string;
  delegate: string;
  lane: string;
}

type Tell = (
  call: ProxiedCall,
  place: Place,
  node: (call: ProxiedCall) => Promise<unknown>,
) => ReturnType<Interception>;

const relay = Relay__factory.createInterface();

function word(value: number): string {
  return `0x${value.toString(16).padStart(64, "0")}`;
}

/** Answers the relay's function in its place. */
function relaySays(name: "paused" | "isOperator", result: string): Tell {
  const { selector } = relay.getFunction(name);
  return ({ method, params: [call] }, place) => {
    if (method !== "eth_call") return undefined;
    const { to, data } = call as { to?: string; data?: string };
    const isAsked = to?.toLowerCase() === place.relay.toLowerCase() && data?.startsWith(selector) === true;
    return isAsked ? { result } : undefined;
  };
}

function newestBlock(change: object): Tell {
  return async (call, _place, node) => {
    if (call.method !== "eth_getBlockByNumber" || call.params[0] !== "latest") return undefined;
    return { result: { ...((await node(call)) as object), ...change } };
  };
}

/** What one node says, and why the lane does not send while no other node contradicts. */
const STOPPING: { name: string; tell: Tell; says: RegExp }[] = [
  {
    name: "a lane without funds",
    tell: ({ method }) => (method === "eth_getBalance" ? { result: "0x0" } : undefined),
    says: /has no funds/,
  },
  { name: "a lane that is not an operator", tell: relaySays("isOperator", word(0)), says: /does not know operator/ },
  { name: "a relay that is paused", tell: relaySays("paused", word(1)), says: /is paused/ },
  { name: "no relay", tell: relaySays("paused", "0x"), says: /no relay answers/ },
  {
    name: "a base fee above the ceiling",
    tell: newestBlock({ baseFeePerGas: "0x2d79883d2000" }),
    says: /MAX_FEE_GWEI/,
  },
];

for (const count of [1, 3]) {
  describe(`${count.toString()} node(s), the first of which lies about what is sent`, () => {
    // The first node is a proxy that changes answers. A receipt would prove the log of a transaction.
    const moneta = useService({ start: false, settings: { VERIFY_RECEIPTS: "false" } });
    const { api } = moneta;
    const proxies: RpcProxy[] = [];
    let place: Place;

    const settings = () => ({ RPC_URL: "", RPC_URLS: proxies.map(({ url }) => url).join(",") });
    const lieWith = (tell: Tell | null) => {
      const [first] = proxies;
      if (first === undefined) throw new Error("there is no node");
      const node = ({ method, params }: ProxiedCall) => moneta.node.provider.send(method, params) as Promise<unknown>;
      first.intercept = tell === null ? null : (call) => tell(call, place, node);
    };
    const mint = () => api.accept("/v1/nfts", { collection_address: place.collection, to_address: place.wallet });
    const mark = () => readMeta(moneta.service.database.read, "unknown_transaction");
    const firstRests = async () => {
      const health = await fetch(`${moneta.service.baseUrl}/readyz`);
      return JSON.stringify(await health.json());
    };

    before(async () => {
      while (proxies.length < count) proxies.push(await startRpcProxy(moneta.node.url));
      await moneta.start(settings());
      const contracts = (await readContracts(moneta.service.database.read)) as { relay: string; delegate: string };
      const { lane } = await testKeys();
      place = { ...contracts, lane, collection: await api.collection({ type: "ERC721" }), wallet: await api.wallet() };
    });
    afterEach(async () => {
      lieWith(null);
      // A node that rests is read again.
      await moneta.restart(settings());
    });
    after(async () => {
      await moneta.stop();
      for (const proxy of proxies) await proxy.stop();
    });

    for (const { name, tell, says } of STOPPING) {
      it(count === 1 ? `${name}: waits until the node says otherwise` : `${name}: the others send`, async () => {
        lieWith(tell);
        const id = await mint();
        if (count === 1) {
          await eventually(async () => (says.test((await moneta.lastErrorOf("lane 0")) ?? "") ? true : undefined));
          expect((await api.ok<{ status: string }>("GET", `/v1/requests/${id}`)).status).to.equal("pending");
          lieWith(null);
        }
        expect(await api.settled(id)).to.include({ status: "completed" });
        if (count > 1) expect(await firstRests()).to.include("node_down");
      });
    }

    it("a wallet that is delegated: its first transfer carries the authorization", async () => {
      const plain = await new PlainERC721__factory(await moneta.provider.getSigner(3)).deploy();
      const from = await api.wallet();
      for (const token of [1, 2]) await (await plain.mint(from, token)).wait();
      lieWith(({ method, params: [account] }) =>
        method === "eth_getCode" && String(account).toLowerCase() === from.toLowerCase()
          ? { result: `0xef0100${place.delegate.slice(2).toLowerCase()}` }
          : undefined,
      );
      for (const token of [1, 2]) {
        const { status, errors } = await api.done("/v1/transfers", {
          from_address: from,
          to_address: place.wallet,
          contract_address: await plain.getAddress(),
          token_id: token,
        });
        expect([status, errors]).to.deep.equal(["completed", null]);
      }
    });

    it("a burn that moved nothing: fails only if no other node has seen it move", async () => {
      const hostile = await new HostileERC721__factory(await moneta.provider.getSigner(3)).deploy();
      const contract = await hostile.getAddress();
      const from = await api.wallet();
      await (await hostile.claim(1, from)).wait();
      const burn = { from_address: from, contract_address: contract, token_id: 1 };
      const before = await moneta.provider.getBlock("latest");
      // The first node cannot be told from an honest one here: the second one says that the token is gone after the block.
      const [, second] = proxies;
      if (second !== undefined)
        second.intercept = ({ method, params: [call, at] }) => {
          if (method !== "eth_call") return undefined;
          const isAfter = !JSON.stringify(at).includes(before?.hash ?? "");
          const { to } = call as { to?: string };
          return to?.toLowerCase() === contract.toLowerCase() && isAfter ? { result: word(0) } : undefined;
        };
      const { status, error_code } = await api.done("/v1/burns", burn);
      if (second !== undefined) second.intercept = null;
      expect([status, error_code]).to.deep.equal(count === 1 ? ["failed", "nothing_moved"] : ["completed", null]);
    });

    /** Invents a batch of the relay in the next block, with the hash of a transaction that the lane signed for a chain. */
    const inventBatch = async (chainId: bigint) => {
      const { laneKey } = await testKeys();
      const { raw, hash } = signTransaction(laneKey, {
        chainId,
        nonce: 1_000,
        to: place.relay,
        data: "0x",
        gasLimit: 100_000n,
        maxFeePerGas: 1n,
        maxPriorityFeePerGas: 1n,
        authorizations: [],
      });
      const { signature, type, to } = Transaction.from(raw);
      const shown = {
        ...{ type: toQuantity(type ?? 0), chainId: toQuantity(chainId), nonce: toQuantity(1_000), to, input: "0x" },
        ...{ gas: toQuantity(100_000), maxFeePerGas: "0x1", maxPriorityFeePerGas: "0x1", value: "0x0", hash },
        ...{ r: signature?.r, s: signature?.s, yParity: toQuantity(signature?.yParity ?? 0), accessList: [] },
      };
      const block = (await moneta.provider.getBlockNumber()) + 1;
      let told = 0;
      lieWith(async (call, _place, node) => {
        if (call.method === "eth_getTransactionByHash" && call.params[0] === hash) return { result: shown };
        if (call.method !== "eth_getLogs") return undefined;
        const [query] = call.params as [
          { fromBlock?: string; toBlock?: string; blockHash?: string; address?: string[] },
        ];
        if (query.address?.some((one) => one.toLowerCase() === place.relay.toLowerCase()) === false) return undefined;
        const at = await moneta.provider.getBlock(block);
        const covers =
          query.blockHash === undefined
            ? Number(query.fromBlock) <= block && block <= Number(query.toBlock)
            : query.blockHash === at?.hash;
        if (!covers || at === null) return undefined;
        told += 1;
        const log = {
          ...{ address: place.relay, topics: [topicOf("BatchExecuted(uint256)")], data: word(0), logIndex: "0xffff" },
          ...{ blockNumber: toQuantity(block), blockHash: at.hash, transactionHash: hash, transactionIndex: "0xff" },
        };
        return { result: [...((await node(call)) as object[]), log] };
      });
      return { hash, block, told: () => told };
    };

    it("a batch that a lane signed for another chain: nothing stops", async () => {
      const { told } = await inventBatch(999n);
      expect(await api.settled(await mint())).to.include({ status: "completed" });
      await eventually(() => Promise.resolve(told() > 0 ? true : undefined));
      await moneta.caughtUp();
      expect(await mark()).to.equal(null);
      expect(await api.settled(await mint())).to.include({ status: "completed" });
    });

    if (count > 1)
      it("a batch that a lane signed for this chain: the lanes go on when the others outvote the block", async () => {
        await moneta.restart({ ...settings(), CONFIRMATIONS: "3" });
        const { told } = await inventBatch(31_337n);
        const id = await mint();
        await eventually(() => Promise.resolve(told() > 0 ? true : undefined));
        const mining = setInterval(() => void moneta.provider.send("evm_mine", []), 500);
        try {
          expect(await api.settled(id)).to.include({ status: "completed" });
          expect(await mark()).to.equal(null);
          expect(await api.settled(await mint())).to.include({ status: "completed" });
        } finally {
          clearInterval(mining);
        }
      });
  });
}
