import { ChainUnavailable } from "../../chain/errors.ts";
import { readConsumed } from "../../chain/relay-reads.ts";
import {
  executedRequests,
  failedUnsent,
  type NumberedRequest,
  stillUnsigned,
  unsignedRequests,
} from "../../store/doctor/numbers.ts";
import { type Check, type DoctorContext, type Finding, ok, problem, some } from "../check.ts";
import { plural } from "../../shared/plural.ts";

/** Number of final requests to check, newest first. With `--all` every one is checked. */
const RECENT = 10_000;

/** The relay has consumed the number of every request that ran, and no other number. */
export const numbers: Check = {
  name: "numbers",
  asksChain: true,
  run: async (context) => {
    const { database } = context;
    const missing = await checkPages(context, executedRequests(database.read), false);
    const unsent = await checkPages(context, failedUnsent(database.read), true);
    const early = await checkPages(context, unsignedRequests(database.read), true);
    // The service may have signed and executed one of them during this check.
    early.found = await stillUnsigned(database.read, early.found);
    const findings = [
      ...problemWith(
        missing.found,
        (requests) => `${requests} completed in the database but not on chain`,
        "A reorg deeper than CONFIRMATIONS undid them, or the node is not in sync. Check the node first.",
      ),
      ...problemWith(
        unsent.found,
        (requests) => `${requests} executed on chain but stored as failed before sending`,
        "Run `npm run cli -- reconcile`.",
      ),
      ...problemWith(
        early.found,
        (requests) => `${requests} executed on chain but not sent by this database`,
        "The database is an old backup. Stop the service and run `npm run cli -- reconcile`.",
      ),
    ];
    if (findings.length > 0) return findings;
    const checked = plural(missing.checked + unsent.checked + early.checked, "request");
    return [ok(`checked ${checked}, newest first: database and relay agree on the request numbers`)];
  },
};

function problemWith(ids: string[], sentence: (requests: string) => string, advice: string): Finding[] {
  if (ids.length === 0) return [];
  return [problem(`${sentence(plural(ids.length, "request is", "requests are"))}: ${some(ids)}. ${advice}`)];
}

/** @returns ids of the requests whose numbers are (or are not) consumed. */
async function checkPages(
  context: DoctorContext,
  pages: AsyncIterable<NumberedRequest[]>,
  wanted: boolean,
): Promise<{ found: string[]; checked: number }> {
  const found: string[] = [];
  let checked = 0;
  for await (const page of pages) {
    const consumed = await readConsumed(
      context.client,
      context.chain.contracts.relay,
      page.map((request) => request.number),
    );
    if (consumed.includes(null)) throw new ChainUnavailable("the relay does not say which numbers it has consumed");
    found.push(...page.filter((_, index) => consumed[index] === wanted).map((request) => request.id));
    checked += page.length;
    if (!context.thorough && checked >= RECENT) break;
  }
  return { found, checked };
}
