import { expect } from "chai";
import { AbiCoder, id as topicOf, toBeHex, toQuantity, Transaction } from "ethers";

import { signTransaction } from "../../../api/chain/transaction.ts";
import { contractsOf } from "../../../api/context/chain-identity.ts";
import { readMeta } from "../../../api/store/db/meta.ts";
import { type Interception, type ProxiedCall, type RpcProxy, startRpcProxy } from "../../../scripts/scene/rpc-proxy.ts";
import { HostileERC721__factory } from "../../../types/ethers-contracts/factories/mocks/HostileERC721__factory.ts";
import { Relay__factory } from "../../../types/ethers-contracts/factories/Relay__factory.ts";
import { eventually } from "../../support/eventually.ts";
import { Foreign } from "../../support/foreign.ts";
import { Mode } from "../../support/receiver-mode.ts";
import { testKeys } from "../../support/test-keys.ts";
import { useService } from "../../support/use-service.ts";

/** What the lies are about, and what the requests of a test need. */
interface Place {
  collection: string;
  wallet: string;
  /** Accepts tokens. */
  receiver: string;
  plain: string;
  relay: string;
  delegate: string;
}

/** @param node asks the node itself. */
type Tell = (
  call: ProxiedCall,
  place: Place,
  node: (call: ProxiedCall) => Promise<unknown>,
) => ReturnType<Interception>;

interface Lie {
  tell: Tell;
  /** Who gets the token that is minted. Default: a wallet. "foreign": a token of others is moved. */
  ask?: "receiver" | "foreign";
  /**
   * With one node, while the lie lasts: the request is completed, because the lie decides nothing; or it waits, and the lane says
   * why. With three, the others send. "once": the lie counts only if it is told again at later blocks.
   */
  alone: "completed" | "waits" | "once" | RegExp;
  /** Whether the service is started with the lie. */
  atStart?: true;
}

const relay = Relay__factory.createInterface();

/** A word of 32 bytes. */
function word(value: number): string {
  return toBeHex(value, 32);
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

/** Multiplies what the gas probe says. */
function probe(change: (gas: bigint) => bigint): Tell {
  return async (call, _place, node) => {
    if (call.method !== "eth_call" || call.params.length !== 3) return undefined;
    const result = await node(call);
    if (typeof result !== "string") return undefined;
    const types = ["tuple(uint256,uint256,uint256)", "uint256[]"];
    const [prices, used] = AbiCoder.defaultAbiCoder().decode(types, result).toArray(true) as [bigint[], bigint[]];
    return { result: AbiCoder.defaultAbiCoder().encode(types, [prices.map(change), used.map(change)]) };
  };
}

function answers(method: string, answer: { result: string } | { error: { code: number; message: string } }): Tell {
  return (call) => (call.method === method ? answer : undefined);
}

const REVERTED = { error: { code: 3, message: "execution reverted", data: "0x63c38351" } };

const LIES: Record<string, Lie> = {
  "a gas limit of 30,000 in the newest block": { tell: newestBlock({ gasLimit: "0x7530" }), alone: "waits" },
  "an estimate of 2^25 for foreign code": {
    tell: answers("eth_estimateGas", { result: "0x2000000" }),
    ask: "receiver",
    alone: "completed",
  },
  "the highest gas limit of a transaction: 2,200,000": {
    // The probe of this limit creates a contract, so it has no receiver.
    tell: ({ method, params: [call] }) =>
      method === "eth_estimateGas" && Number((call as { gas?: string }).gas) > 2_200_000 && !("to" in (call as object))
        ? { error: { code: -32000, message: "intrinsic gas too high" } }
        : undefined,
    alone: "completed",
    atStart: true,
  },
  "gas probes of a thousandth": { tell: probe((gas) => gas / 1_000n), alone: "completed", atStart: true },
  "gas probes of a thousand times": { tell: probe((gas) => gas * 1_000n), alone: "waits", atStart: true },
  "a wallet's nonce of 7": {
    tell: ({ method, params: [account] }, { wallet }) =>
      method === "eth_getTransactionCount" && String(account).toLowerCase() === wallet.toLowerCase()
        ? { result: "0x7" }
        : undefined,
    ask: "foreign",
    alone: "once",
  },
  "a simulation that reverts": { tell: answers("eth_estimateGas", REVERTED), ask: "receiver", alone: "once" },
  "a minter that was removed": {
    tell: ({ method, params: [call] }) =>
      method === "eth_call" && String((call as { data?: string }).data).startsWith("0xaa271e1a") // isMinter(address)
        ? { result: word(0) }
        : undefined,
    alone: "once",
  },
  "a lane without funds": { tell: answers("eth_getBalance", { result: "0x0" }), alone: /has no funds/ },
  "a lane that is not an operator": { tell: relaySays("isOperator", word(0)), alone: /does not know operator/ },
  "a relay that is paused": { tell: relaySays("paused", word(1)), alone: /is paused/ },
  "no relay": { tell: relaySays("paused", "0x"), alone: /no relay answers/ },
  "a base fee above the ceiling": { tell: newestBlock({ baseFeePerGas: "0x2d79883d2000" }), alone: /MAX_FEE_GWEI/ },
};

for (const count of [1, 3]) {
  describe(`${count.toString()} node(s), the first of which lies`, () => {
    // The first node is a proxy that changes answers. A receipt would prove the log of a transaction.
    const moneta = useService({ start: false, settings: { VERIFY_RECEIPTS: "false" } });
    const { api } = moneta;
    const foreign = new Foreign(moneta);
    const proxies: RpcProxy[] = [];
    let place: Place;

    const settings = () => ({ RPC_URL: "", RPC_URLS: proxies.map(({ url }) => url).join(",") });
    const lieWith = (tell: Tell | null) => {
      const [first] = proxies;
      if (first === undefined) throw new Error("there is no node");
      const node = ({ method, params }: ProxiedCall) => moneta.node.provider.send(method, params) as Promise<unknown>;
      first.intercept = tell === null ? null : (call) => tell(call, place, node);
    };
    const mint = (collection = place.collection, to = place.wallet) =>
      api.accept("/v1/nfts", { collection_address: collection, to_address: to });
    const mark = () => readMeta(moneta.service.database.read, "unknown_transaction");

    before(async () => {
      while (proxies.length < count) proxies.push(await startRpcProxy(moneta.node.url));
      await moneta.start(settings());
      const contracts = await contractsOf(moneta.service.database.read);
      const [collection, wallet] = [await api.collection({ type: "ERC721" }), await api.wallet()];
      const receiver = await foreign.programmed(Mode.accept);
      place = { ...contracts, collection, wallet, receiver, plain: (await foreign.plain(wallet, 1)).address };
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

    /** The request is looked at, and neither sent nor failed: twice, or until the lane says why. */
    async function waits(id: string, why: RegExp | "waits"): Promise<void> {
      const { read } = moneta.service.database;
      await eventually(async () => {
        expect(await api.ok("GET", `/v1/requests/${id}`)).to.include({ status: "pending" });
        if (why !== "waits") return why.test(moneta.lastErrorOf("lane 0") ?? "") ? true : undefined;
        const parked = await read.selectFrom("parked_rows").select("tries").where("id", "=", id).executeTakeFirst();
        return (parked?.tries ?? 0) >= 2 ? true : undefined;
      });
    }

    for (const [name, { tell, ask, alone, atStart }] of Object.entries(LIES)) {
      it(`${name}: the request is not failed by it`, async () => {
        let told = 0;
        lieWith(async (...call) => {
          const answer = await tell(...call);
          if (answer === undefined) return undefined;
          told += 1;
          return alone === "once" && count === 1 && told > 1 ? undefined : answer;
        });
        if (atStart) await moneta.restart(settings());
        const { collection, wallet, receiver, plain } = place;
        const id =
          ask === "foreign"
            ? await api.accept("/v1/transfers", {
                ...{ from_address: wallet, to_address: receiver, contract_address: plain, token_id: 1 },
              })
            : await mint(collection, ask === "receiver" ? receiver : wallet);
        if (count === 1 && (alone === "waits" || alone instanceof RegExp)) {
          await waits(id, alone);
          lieWith(null);
          if (atStart) await moneta.restart(settings());
        }
        expect(await api.settled(id)).to.include({ status: "completed", error_code: null, errors: null });
        expect(told).to.be.above(0);
        if (count > 1 && alone instanceof RegExp) expect((await moneta.readyz()).text).to.include("node_down");
      });
    }

    it("a wallet that is delegated: its first transfer carries the authorization", async () => {
      const from = await api.wallet();
      const { address } = await foreign.plain(from, 1, 2);
      lieWith(({ method, params: [account] }) =>
        method === "eth_getCode" && String(account).toLowerCase() === from.toLowerCase()
          ? { result: `0xef0100${place.delegate.slice(2).toLowerCase()}` }
          : undefined,
      );
      for (const token of [1, 2]) await api.move(address, token, from, place.wallet);
    });

    it("a burn that moved nothing: fails only if no other node has seen it move", async () => {
      const hostile = await new HostileERC721__factory(await foreign.signer()).deploy();
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
      const fees = { gasLimit: 100_000n, maxFeePerGas: 1n, maxPriorityFeePerGas: 1n };
      const unsigned = { chainId, nonce: 1_000, to: place.relay, data: "0x", ...fees, authorizations: [] };
      const { raw, hash } = signTransaction(laneKey, unsigned);
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
      return () => told;
    };

    it("a batch that a lane signed for another chain: nothing stops", async () => {
      const told = await inventBatch(999n);
      expect(await api.settled(await mint())).to.include({ status: "completed" });
      await eventually(() => Promise.resolve(told() > 0 ? true : undefined));
      await moneta.caughtUp();
      expect(await mark()).to.equal(null);
      expect(await api.settled(await mint())).to.include({ status: "completed" });
    });

    if (count > 1)
      it("a batch that a lane signed for this chain: the lanes go on when most nodes have another block", async () => {
        await moneta.restart({ ...settings(), CONFIRMATIONS: "3" });
        const told = await inventBatch(31_337n);
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
