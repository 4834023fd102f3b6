import { expect } from "chai";
import { Transaction } from "ethers";

import { openBatches } from "../../../../api/store/sending/batches.ts";
import { readLane } from "../../../../api/store/sending/lanes.ts";
import type { Interception } from "../../../../scripts/scene/rpc-proxy.ts";
import { eventually } from "../../../support/eventually.ts";
import type { OwnService } from "../../../support/own-service.ts";

/** Answers each broadcast in place of the node. Undefined: the node gets it. @returns the different transactions, in order. */
export function onBroadcast(
  moneta: OwnService,
  answer: (transaction: Transaction) => ReturnType<Interception>,
): Transaction[] {
  const sent: Transaction[] = [];
  moneta.intercept = ({ method, params }) => {
    if (method !== "eth_sendRawTransaction") return undefined;
    const transaction = Transaction.from(params[0] as string);
    if (sent.every(({ hash }) => hash !== transaction.hash)) sent.push(transaction);
    return answer(transaction);
  };
  return sent;
}

/** The node accepts the transaction and then loses it. */
export function lost({ hash }: Transaction) {
  return { result: hash };
}

/** A priority fee of so many gwei. */
export function tip(gwei: bigint) {
  return { result: `0x${(gwei * 10n ** 9n).toString(16)}` };
}

/** Waits until every nonce that lane 0 took is used on the chain. */
export async function nothingOpen(moneta: OwnService): Promise<void> {
  const { read } = moneta.service.database;
  await eventually(async () => ((await openBatches(read)).length === 0 ? true : undefined));
  const lane = await readLane(read, 0);
  expect(await moneta.provider.getTransactionCount(lane?.address ?? "")).to.equal(lane?.next_nonce);
}
