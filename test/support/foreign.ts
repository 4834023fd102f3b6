import { Wallet } from "ethers";

import type { PlainERC721 } from "../../types/ethers-contracts/mocks/PlainERC721.ts";
import { PlainERC721__factory } from "../../types/ethers-contracts/factories/mocks/PlainERC721__factory.ts";
import { ProgrammableReceiver__factory } from "../../types/ethers-contracts/factories/mocks/ProgrammableReceiver__factory.ts";
import { RejectingReceiver__factory } from "../../types/ethers-contracts/factories/mocks/RejectingReceiver__factory.ts";
import type { ServiceFixture } from "./service.ts";

/** Contracts and accounts of others, as tests make them on the node of a service. */
export class Foreign {
  readonly #moneta: ServiceFixture;

  constructor(moneta: ServiceFixture) {
    this.#moneta = moneta;
  }

  /** Who deploys them. */
  signer() {
    return this.#moneta.provider.getSigner(3);
  }

  /** An ERC721 contract whose tokens a wallet has. */
  async plain(wallet: string, ...ids: number[]): Promise<{ contract: PlainERC721; address: string }> {
    const contract = await new PlainERC721__factory(await this.signer()).deploy();
    for (const id of ids) await (await contract.mint(wallet, id)).wait();
    return { contract, address: await contract.getAddress() };
  }

  /** A receiver that does what the mode says. @returns its address. */
  async programmed(mode: number): Promise<string> {
    const receiver = await new ProgrammableReceiver__factory(await this.signer()).deploy();
    await (await receiver.program(mode)).wait();
    return receiver.getAddress();
  }

  /** A contract without hooks. @returns its address. */
  async rejecting(): Promise<string> {
    return (await new RejectingReceiver__factory(await this.signer()).deploy()).getAddress();
  }

  /** Gives a new account some code. @returns its address. */
  async withCode(code: string): Promise<string> {
    const { address } = Wallet.createRandom();
    await this.#moneta.provider.send("hardhat_setCode", [address, code]);
    return address;
  }

  /** A new account that has delegated to a contract. @returns its address. */
  async delegatedTo(contract: string): Promise<string> {
    const account = Wallet.createRandom().connect(this.#moneta.provider);
    const authorization = await account.authorize({ address: contract, nonce: 0 });
    const signer = await this.signer();
    await (await signer.sendTransaction({ to: signer.address, authorizationList: [authorization] })).wait();
    return account.address;
  }
}
