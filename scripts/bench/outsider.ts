import { HDNodeWallet, Mnemonic, Transaction } from "ethers";

import { withLocalOwner } from "../../api/chain/local-contracts.ts";
import { ERC721Collection__factory } from "../../contracts/generated/factories/ERC721Collection__factory.ts";
import { Relay__factory } from "../../contracts/generated/factories/Relay__factory.ts";
import type { NodeProcess } from "../scene/node.ts";
import { until } from "../scene/until.ts";

/** The public mnemonic of local nodes. Nothing else here uses account 7. */
const MNEMONIC = Mnemonic.fromPhrase("test test test test test test test test test test test junk");
const ACCOUNT = "m/44'/60'/0'/0/7";
const FEES = { maxFeePerGas: 20_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n };
const BASE_FEE = "0x3b9aca00";
const CALL_GAS = 110_000;
/** Calls of one transaction, and its gas limit. */
const CALLS = 140;
const TRANSACTION_GAS = 16_000_000n;
/** Transactions that wait for their blocks at once. */
const WAITING = 20;

const RELAY = Relay__factory.createInterface();
const MINT = ERC721Collection__factory.createInterface().getFunction("mint").selector;
const TRANSFER = ERC721Collection__factory.createInterface().getFunction("transferFrom").selector;

/** Mints and transfers without the service, through a relay of its own that runs many calls in one transaction. */
export class Outsider {
  readonly #node: NodeProcess;
  readonly #signer: HDNodeWallet;
  readonly #relay: string;
  #number = 1;

  private constructor(node: NodeProcess, signer: HDNodeWallet, relay: string) {
    this.#node = node;
    this.#signer = signer;
    this.#relay = relay;
  }

  static async start(node: NodeProcess): Promise<Outsider> {
    const signer = HDNodeWallet.fromMnemonic(MNEMONIC, ACCOUNT).connect(node.provider);
    const relay = await withLocalOwner(node.url, async (owner) => {
      const deployed = await new Relay__factory(owner).deploy(owner.address, "https://bench.example/");
      const contract = await deployed.waitForDeployment();
      await (await contract.setOperator(signer.address, true)).wait();
      return contract.getAddress();
    });
    return new Outsider(node, signer, relay);
  }

  /** Lets the outsider mint in a collection of the service, and its relay move what the outsider holds there. */
  async admitTo(collection: string): Promise<void> {
    await withLocalOwner(this.#node.url, async (owner) => {
      await (await ERC721Collection__factory.connect(collection, owner).setMinter(this.#relay, true)).wait();
    });
    const contract = ERC721Collection__factory.connect(collection, this.#signer);
    await (await contract.setApprovalForAll(this.#relay, true)).wait();
  }

  /** Mints the first tokens of a collection to the outsider, and transfers each of them to one of the wallets. */
  async sell(collection: string, wallets: readonly string[], tokens: number): Promise<void> {
    const { address } = this.#signer;
    await this.#mine(
      collection,
      Array.from({ length: tokens }, () => MINT + word(address)),
    );
    const sold = Array.from({ length: tokens }, (_, index) => {
      const to = wallets[index % wallets.length] ?? "";
      return TRANSFER + [address, to, index + 1].map(word).join("");
    });
    await this.#mine(collection, sold);
  }

  async #mine(target: string, calls: readonly string[]): Promise<void> {
    const { provider } = this.#node;
    let nonce = await provider.getTransactionCount(this.#signer.address);
    for (let start = 0; start < calls.length; start += CALLS) {
      const data = this.#execute(target, calls.slice(start, start + CALLS));
      const fields = { type: 2, chainId: 31_337n, nonce, to: this.#relay, data, gasLimit: TRANSACTION_GAS, ...FEES };
      // Full blocks would raise it above what the transactions pay.
      await provider.send("hardhat_setNextBlockBaseFeePerGas", [BASE_FEE]);
      await provider.send("eth_sendRawTransaction", [await this.#signer.signTransaction(Transaction.from(fields))]);
      nonce += 1;
      await this.#untilMined(nonce - WAITING);
    }
    await this.#untilMined(nonce);
  }

  #execute(target: string, calls: readonly string[]): string {
    const items = calls.map((data, index) => ({ number: this.#number + index, target, gasLimit: CALL_GAS, data }));
    this.#number += calls.length;
    return RELAY.encodeFunctionData("execute", [items]);
  }

  async #untilMined(nonce: number): Promise<void> {
    const isMined = async () => (await this.#node.provider.getTransactionCount(this.#signer.address)) >= nonce;
    await until("the node mines the transactions", isMined, { within: 60_000, every: 5 });
  }
}

function word(value: string | number): string {
  const digits = typeof value === "string" ? value.slice(2).toLowerCase() : value.toString(16);
  return digits.padStart(64, "0");
}
