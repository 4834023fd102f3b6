import { expect } from "chai";
import type { Interface } from "ethers";

import type { Relay } from "../../../types/ethers-contracts/index.js";
import { type Item, nextNumber, run } from "./deploy.ts";

/** Runs one call through the relay, and asserts that it fails with this error of a contract. */
export async function expectFailure(
  relay: Relay,
  call: Item,
  contract: { interface: Interface },
  error: string,
  ...args: unknown[]
): Promise<void> {
  const { number = nextNumber() } = call;
  await expect(run(relay, { ...call, number }))
    .to.emit(relay, "CallFailed")
    .withArgs(number, contract.interface.encodeErrorResult(error, args));
}
