import { randomInt } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";

import { type BaseContract, type JsonRpcSigner, parseEther, toQuantity } from "ethers";
import { z } from "zod";

import { CollectionFactory__factory } from "../../contracts/generated/factories/CollectionFactory__factory.ts";
import { ERC1155Collection__factory } from "../../contracts/generated/factories/ERC1155Collection__factory.ts";
import { Relay__factory } from "../../contracts/generated/factories/Relay__factory.ts";
import { WalletDelegate__factory } from "../../contracts/generated/factories/WalletDelegate__factory.ts";
import type { BroadcastAnswer } from "../domain/broadcast-answer.ts";
import { type CollectionStorage, DEFAULT_STORAGE } from "../domain/command.ts";
import type { ContractAddresses } from "./contracts.ts";
import { ERC721_IMPLEMENTATIONS } from "./deployment.ts";
import { classifyBroadcast } from "./errors.ts";
import { connectRelay } from "./relay-administration.ts";
import { RpcProvider } from "./rpc-provider.ts";
import { Rpc } from "./rpc.ts";

/** Chain id of the local nodes of Hardhat and Anvil, whose account keys are public. */
export const LOCAL_CHAIN_ID = 31_337n;

/** A local chain makes a block at once: milliseconds between two polls for it. */
const LOCAL_POLL = 50;

/** A lane on a local chain gets this amount when it has less than a tenth of it. */
const LANE_FUNDS = parseEther("100");

/**
 * Gas limit of the owner's calls on a local chain, enough under all rules. An estimate may be too low: it is for the state of that
 * moment, and another process that starts at the same time may change what the call finds.
 */
const OWNER_CALL = { gasLimit: 5_000_000n };

/** The owner sends one transaction at most this often: again when another process has used its nonce first. */
const MAX_SENDS = 50;

/** A transaction that the node did not know at this many polls in a row was dropped. */
const DROPPED = 20;

/** What a node answers when an identical transaction, a mined one, or one with as high a fee already has the nonce. */
const NONCE_TAKEN: ReadonlySet<BroadcastAnswer> = new Set(["accepted", "nonce-used", "underpriced"]);

/** A gas limit has up to this much more than it needs, chosen at random. */
const OWN_GAS = 65_536;

/** Milliseconds that a call waits if the calls to the node are limited. */
const LONGEST_WAIT = 30_000;

const ownerTransaction = z.tuple([z.looseObject({ gas: z.string() })]);

/**
 * A local node signs for the owner and chooses the nonce. When several processes start at the same time, Anvil may choose the same
 * nonce for two transactions. It refuses the second, or drops one of them later: then that one is sent again. A call that sends
 * returns when the transaction is mined.
 */
class OwnerRpc extends Rpc {
  override async call(method: string, params: unknown[]): Promise<unknown> {
    if (method !== "eth_sendTransaction") return super.call(method, params);
    const [{ gas, ...transaction }] = ownerTransaction.parse(params);
    // No other process sends the same bytes, whose hash would be the same: then one transaction would do the work of two.
    const own = { ...transaction, gas: toQuantity(BigInt(gas) + BigInt(randomInt(OWN_GAS))) };
    for (let sends = 1; ; sends++) {
      const hash = await this.#send(own, sends < MAX_SENDS);
      if (hash !== null && (await this.#isMined(hash))) return hash;
      if (sends === MAX_SENDS) throw new Error(`the local node dropped a transaction ${sends.toString()} times`);
    }
  }

  /** @returns the hash; null: another transaction has the nonce, and `mayRepeat`. */
  async #send(transaction: object, mayRepeat: boolean): Promise<unknown> {
    try {
      return await super.call("eth_sendTransaction", [transaction]);
    } catch (error) {
      if (!mayRepeat || !NONCE_TAKEN.has(classifyBroadcast(error))) throw error;
      return null;
    }
  }

  /** Waits until the transaction is mined, for as long as the node knows it. @returns false: the node has dropped it. */
  async #isMined(hash: unknown): Promise<boolean> {
    for (let unknown = 0; unknown < DROPPED;) {
      if ((await super.call("eth_getTransactionReceipt", [hash])) !== null) return true;
      unknown = (await super.call("eth_getTransactionByHash", [hash])) === null ? unknown + 1 : 0;
      await wait(LOCAL_POLL);
    }
    return false;
  }
}

/** Uses the first account of a local node, which owns the relay there and funds the lanes. */
export async function withLocalOwner<T>(rpcUrl: string, use: (owner: JsonRpcSigner) => Promise<T>): Promise<T> {
  const provider = new RpcProvider(new OwnerRpc(rpcUrl, { maxWait: LONGEST_WAIT }), LOCAL_CHAIN_ID, LOCAL_POLL);
  try {
    return await use(await provider.getSigner(0));
  } finally {
    provider.destroy();
  }
}

/** Deploys the service's contracts with the node's own account. */
export async function deployLocally(
  owner: JsonRpcSigner,
  hostedBase: string,
  storage: CollectionStorage = DEFAULT_STORAGE,
): Promise<ContractAddresses> {
  const deployedAt = (await owner.provider.getBlockNumber()) + 1;
  const relay = await mined(new Relay__factory(owner).deploy(owner.address, hostedBase));
  const erc721 = await mined(new ERC721_IMPLEMENTATIONS[storage](owner).deploy(relay));
  const erc1155 = await mined(new ERC1155Collection__factory(owner).deploy(relay));
  const address = await mined(new CollectionFactory__factory(owner).deploy(relay, erc721, erc1155));
  const delegate = await mined(new WalletDelegate__factory(owner).deploy(relay));
  return { relay, factories: [{ storage, signedBurns: true, address }], delegate, deployedAt };
}

async function mined(deployed: Promise<BaseContract>): Promise<string> {
  return (await (await deployed).waitForDeployment()).getAddress();
}

/** Does the relay owner's work on a local chain: funds the lanes, makes them operators, sets the hosted base. */
export async function configureLocally(
  owner: JsonRpcSigner,
  addresses: ContractAddresses,
  wanted: { lanes: string[]; hostedBase: string },
): Promise<void> {
  const relay = connectRelay(addresses.relay, owner);
  for (const lane of wanted.lanes) {
    if ((await owner.provider.getBalance(lane)) < LANE_FUNDS / 10n) {
      await (await owner.sendTransaction({ to: lane, value: LANE_FUNDS })).wait();
    }
    if (!(await relay.isOperator(lane))) await (await relay.setOperator(lane, true, OWNER_CALL)).wait();
  }
  if ((await relay.hostedBaseURI()) !== wanted.hostedBase) {
    await (await relay.setHostedBaseURI(wanted.hostedBase, OWNER_CALL)).wait();
  }
}
