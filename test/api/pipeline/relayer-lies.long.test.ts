import { AbiCoder } from "ethers";
import { expect } from "chai";

import { type Interception, type ProxiedCall, type RpcProxy, startRpcProxy } from "../../../scripts/scene/rpc-proxy.ts";
import { PlainERC721__factory } from "../../../types/ethers-contracts/factories/mocks/PlainERC721__factory.ts";
import { ProgrammableReceiver__factory } from "../../../types/ethers-contracts/factories/mocks/ProgrammableReceiver__factory.ts";
import { eventually } from "../../support/eventually.ts";
import { Mode } from "../../support/receiver-mode.ts";
import { useService } from "../../support/use-service.ts";

/** A word of 32 bytes. */
function word(value: number): string {
  return `0x${value.toString(16).padStart(64, "0")}`;
}

/** `isMinter(address)`. */
const IS_MINTER = "0xaa271e1a";
const REVERTED = { error: { code: 3, message: "execution reverted", data: "0x63c38351" } };

/** What the requests of a test need. */
interface Place {
  collection: string;
  wallet: string;
  /** Accepts tokens. */
  receiver: string;
  plain: string;
}

type Ask = [path: "/v1/nfts" | "/v1/transfers", body: object];

function mintToWallet({ collection, wallet }: Place): Ask {
  return ["/v1/nfts", { collection_address: collection, to_address: wallet }];
}

function mintToReceiver({ collection, receiver }: Place): Ask {
  return ["/v1/nfts", { collection_address: collection, to_address: receiver }];
}

function foreignTransfer({ wallet, receiver, plain }: Place): Ask {
  return ["/v1/transfers", { from_address: wallet, to_address: receiver, contract_address: plain, token_id: 1 }];
}

interface Lie {
  name: string;
  /** @param node asks the node itself. */
  tell: (call: ProxiedCall, place: Place, node: (call: ProxiedCall) => Promise<unknown>) => ReturnType<Interception>;
  ask: (place: Place) => Ask;
  /** With one node, while the lie lasts: the request waits, or it is completed, because the lie decides nothing. */
  alone: "waits" | "completed";
  /** Whether the service is started with the lie. */
  atStart?: true;
}

/** Multiplies what the gas probe says, or says that everything is free. */
function probe(change: (gas: bigint) => bigint): Lie["tell"] {
  return async (call, _place, node) => {
    if (call.method !== "eth_call" || call.params.length !== 3) return undefined;
    const result = await node(call);
    if (typeof result !== "string") return undefined;
    const types = ["tuple(uint256,uint256,uint256)", "uint256[]"];
    const [prices, used] = AbiCoder.defaultAbiCoder().decode(types, result).toArray(true) as [bigint[], bigint[]];
    return { result: AbiCoder.defaultAbiCoder().encode(types, [prices.map(change), used.map(change)]) };
  };
}

const LIES: Lie[] = [
  {
    name: "a gas limit of 30,000 in the newest block",
    tell: async (call, _place, node) => {
      if (call.method !== "eth_getBlockByNumber" || call.params[0] !== "latest") return undefined;
      return { result: { ...((await node(call)) as object), gasLimit: "0x7530" } };
    },
    ask: mintToWallet,
    alone: "waits",
  },
  {
    name: "an estimate of 2^25 for foreign code",
    tell: ({ method }) => (method === "eth_estimateGas" ? { result: "0x2000000" } : undefined),
    ask: mintToReceiver,
    alone: "completed",
  },
  {
    name: "the highest gas limit of a transaction: 2,200,000",
    // The probe of this limit creates a contract, so it has no receiver.
    tell: ({ method, params: [call] }) =>
      method === "eth_estimateGas" && Number((call as { gas?: string }).gas) > 2_200_000 && !("to" in (call as object))
        ? { error: { code: -32000, message: "intrinsic gas too high" } }
        : undefined,
    ask: mintToWallet,
    alone: "completed",
    atStart: true,
  },
  {
    name: "gas probes of a thousandth",
    tell: probe((gas) => gas / 1_000n),
    ask: mintToWallet,
    alone: "completed",
    atStart: true,
  },
  {
    name: "gas probes of a thousand times",
    tell: probe((gas) => gas * 1_000n),
    ask: mintToWallet,
    alone: "waits",
    atStart: true,
  },
];

/** Lies that count only if they are told again at later blocks. */
const REPEATED: Pick<Lie, "name" | "tell" | "ask">[] = [
  {
    name: "a wallet's nonce of 7",
    tell: ({ method, params: [account] }, { wallet }) =>
      method === "eth_getTransactionCount" && String(account).toLowerCase() === wallet.toLowerCase()
        ? { result: "0x7" }
        : undefined,
    ask: foreignTransfer,
  },
  {
    name: "a simulation that reverts",
    tell: ({ method }) => (method === "eth_estimateGas" ? REVERTED : undefined),
    ask: mintToReceiver,
  },
  {
    name: "a minter that was removed",
    tell: ({ method, params: [call] }) =>
      method === "eth_call" && String((call as { data?: string }).data).startsWith(IS_MINTER)
        ? { result: word(0) }
        : undefined,
    ask: mintToWallet,
  },
];

for (const count of [1, 3]) {
  describe(`${count.toString()} node(s), the first of which lies to the relayer`, () => {
    // The first node is a proxy that changes answers.
    const moneta = useService({ start: false });
    const { api } = moneta;
    const proxies: RpcProxy[] = [];
    let place: Place;

    const settings = () => ({ RPC_URL: "", RPC_URLS: proxies.map(({ url }) => url).join(",") });
    const lieWith = (tell: Lie["tell"] | null) => {
      const [first] = proxies;
      if (first === undefined) throw new Error("there is no node");
      const node = ({ method, params }: ProxiedCall) => moneta.node.provider.send(method, params) as Promise<unknown>;
      first.intercept = tell === null ? null : (call) => tell(call, place, node);
    };

    before(async () => {
      while (proxies.length < count) proxies.push(await startRpcProxy(moneta.node.url));
      await moneta.start(settings());
      const signer = await moneta.node.provider.getSigner(3);
      const receiver = await new ProgrammableReceiver__factory(signer).deploy();
      await (await receiver.program(Mode.accept)).wait();
      const plain = await new PlainERC721__factory(signer).deploy();
      const [collection, wallet] = [await api.collection({ type: "ERC721" }), await api.wallet()];
      await (await plain.mint(wallet, 1)).wait();
      place = { collection, wallet, receiver: await receiver.getAddress(), plain: await plain.getAddress() };
    });
    let measured = true;
    afterEach(async () => {
      lieWith(null);
      // It measures again.
      if (!measured) await moneta.restart(settings());
      measured = true;
    });
    after(async () => {
      await moneta.stop();
      for (const proxy of proxies) await proxy.stop();
    });

    for (const { name, tell, ask, alone, atStart } of LIES) {
      it(`${name}: the request is not failed by it`, async () => {
        lieWith(tell);
        if (atStart) {
          measured = false;
          await moneta.restart(settings());
        }
        const [path, body] = ask(place);
        const id = await api.accept(path, body as never);
        if (count === 1 && alone === "waits") {
          await waits(id);
          lieWith(null);
          if (atStart) await moneta.restart(settings());
        }
        const { status, error_code, errors } = await api.settled(id);
        expect([status, error_code, errors]).to.deep.equal(["completed", null, null]);
      });
    }

    for (const { name, tell, ask } of REPEATED) {
      it(`${name}, once: the request is not failed by it`, async () => {
        let told = 0;
        lieWith(async (call, ...rest) => {
          const answer = await tell(call, ...rest);
          if (answer === undefined) return undefined;
          told += 1;
          return told === 1 || count > 1 ? answer : undefined;
        });
        const [path, body] = ask(place);
        const { status, error_code, errors } = await api.done(path, body as never);
        expect([status, error_code, errors]).to.deep.equal(["completed", null, null]);
        expect(told).to.be.above(0);
      });
    }

    /** The request is looked at twice, and neither sent nor failed. */
    async function waits(id: string): Promise<void> {
      const { read } = moneta.service.database;
      await eventually(async () => {
        const { status } = await api.ok<{ status: string }>("GET", `/v1/requests/${id}`);
        expect(status).to.equal("pending");
        const parked = await read.selectFrom("parked_rows").select("tries").where("id", "=", id).executeTakeFirst();
        return (parked?.tries ?? 0) >= 2 ? true : undefined;
      });
    }
  });
}
