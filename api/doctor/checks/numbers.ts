import type { ChainClient } from "../../chain/client.ts";
import { abi } from "../../chain/contracts.ts";
import { ChainUnavailable } from "../../chain/errors.ts";
import {
  executedRequests,
  failedUnsent,
  type NumberedRequest,
  stillUnsigned,
  unsignedRequests,
} from "../../store/doctor/numbers.ts";
import { type Check, type DoctorContext, ok, problem, some } from "../check.ts";

/** Final requests that are looked at, newest first, unless all are asked for. */
const RECENT = 10_000;

/** The relay has consumed the number of every request that ran, and of no other. */
export const numbers: Check = {
  name: "numbers",
  asksChain: true,
  run: async (context) => {
    const { database } = context;
    const executed = await look(context, executedRequests(database.read), false);
    const unsent = await look(context, failedUnsent(database.read), true);
    const early = await look(context, unsignedRequests(database.read), true);
    // One of them may have been signed and executed while this was looking.
    early.found = await stillUnsigned(database.read, early.found);
    const findings = [
      executed.found.length === 0
        ? []
        : problem(
            `${executed.found.length.toString()} final requests are not executed on chain: ${some(executed.found)}. ` +
              `A reorg deeper than CONFIRMATIONS took them back, or the node is not in sync.`,
          ),
      unsent.found.length === 0
        ? []
        : problem(
            `Requests failed as never sent, but were executed: ${some(unsent.found)}. Run \`npm run cli -- reconcile\`.`,
          ),
      early.found.length === 0
        ? []
        : problem(
            `Requests that this database has not sent were executed: ${some(early.found)}. It is an old backup: stop the ` +
              `service and run \`npm run cli -- reconcile\`.`,
          ),
    ].flat();
    if (findings.length > 0) return findings;
    const looked = executed.looked + unsent.looked + early.looked;
    return [ok(`${looked.toString()} requests looked at, newest first: their numbers are as the relay says`)];
  },
};

/** @returns ids of the requests whose numbers are (or are not) consumed. */
async function look(
  context: DoctorContext,
  pages: AsyncIterable<NumberedRequest[]>,
  wanted: boolean,
): Promise<{ found: string[]; looked: number }> {
  const found: string[] = [];
  let looked = 0;
  for await (const page of pages) {
    const consumed = await areConsumed(context.client, context.chain.contracts.relay, page);
    found.push(...page.filter((_, index) => consumed[index] === wanted).map((request) => request.id));
    looked += page.length;
    if (!context.thorough && looked >= RECENT) break;
  }
  return { found, looked };
}

async function areConsumed(client: ChainClient, relay: string, requests: { number: bigint }[]): Promise<boolean[]> {
  const calls = requests.map(({ number }) => ({
    to: relay,
    data: abi.relay.encodeFunctionData("isConsumed", [number]),
  }));
  return (await client.tryCalls(calls)).map((answer) => {
    if (answer == null) throw new ChainUnavailable("the relay does not say which numbers it has consumed");
    return BigInt(answer) === 1n;
  });
}
