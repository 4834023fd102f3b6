import { expect } from "chai";
import type { ErrorDescription, Interface } from "ethers";

import type { Relay } from "../../../types/ethers-contracts/index.js";
import { type Item, nextNumber, run } from "./deploy.ts";

interface Contract {
  interface: Interface;
}

/** Runs one call through the relay, and asserts that it fails with this error of a contract. */
export async function expectFailure(
  relay: Relay,
  call: Item,
  contract: Contract,
  error: string,
  ...args: unknown[]
): Promise<void> {
  const { number = nextNumber() } = call;
  await expect(run(relay, { ...call, number }))
    .to.emit(relay, "CallFailed")
    .withArgs(number, contract.interface.encodeErrorResult(error, args));
}

/** Runs one call through the relay, and asserts that it fails. @returns the error of the contract. */
export async function failureOf(relay: Relay, call: Item, contract: Contract): Promise<ErrorDescription> {
  const { number = nextNumber() } = call;
  const receipt = await (await run(relay, { ...call, number })).wait();
  const failure = receipt!.logs.map((log) => relay.interface.parseLog(log)).find((one) => one?.name === "CallFailed");
  expect(failure?.args["number"]).to.equal(number);
  return contract.interface.parseError(failure!.args["reason"] as string)!;
}

/** Asserts that the call reverts with this error of a contract, and these arguments. */
export async function reverts(call: unknown, contract: Contract, error: string, ...args: unknown[]): Promise<void> {
  await expect(call)
    .to.be.revertedWithCustomError(contract, error)
    .withArgs(...args);
}

/** Asserts that the transaction emits this event of a contract, with these arguments. */
export async function emits(sent: unknown, contract: Contract, event: string, ...args: unknown[]): Promise<void> {
  await expect(sent)
    .to.emit(contract, event)
    .withArgs(...args);
}
