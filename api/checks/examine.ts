import { ChainUnavailable, RpcError, describeError } from "../chain/errors.ts";
import { readOnce } from "./state.ts";
import { type Check, type DoctorContext, type Finding, problem, type Result, RESULTS, warning } from "./check.ts";
import { effects, indexer, pins, receipts } from "./work-checks.ts";
import { rescued } from "./rescued.ts";
import { chain, contracts, l1Data, lanes, numbers, reserve } from "./chain-checks.ts";
import { imported, sealed, seed } from "./key-checks.ts";
import { backlog, fees, followed, funds, mined, minting, nodes, outbox, parked, relay } from "./condition-checks.ts";

/** All checks, in the order of the report. Add a new check here. */
export const CHECKS: readonly Check[] = [
  ...[chain, nodes, contracts, seed, sealed, imported],
  ...[relay, lanes, mined, fees, l1Data, reserve, funds, numbers],
  ...[backlog, outbox, pins, parked, indexer, receipts, followed, minting, rescued, effects],
];

export interface Examination {
  result: Result;
  findings: (Finding & { check: string })[];
}

/** Runs the checks. Skips those that need the node when it does not answer or serves another chain. */
export async function examine(
  given: Omit<DoctorContext, "state">,
  checks: readonly Check[] = CHECKS,
): Promise<Examination> {
  const context = { ...given, state: readOnce(given) };
  const findings: Examination["findings"] = [];
  const skipped = new Set<string>();
  let chainIsRight = true;
  for (const check of checks) {
    if (check.asksChain && !chainIsRight) {
      skipped.add(check.name);
      continue;
    }
    const found = await run(check, context);
    findings.push(...found.map((finding) => ({ check: check.name, ...finding })));
    if (check.name === chain.name) chainIsRight = worst(found) === "ok";
  }
  if (skipped.size > 0) {
    const names = [...skipped].join(", ");
    findings.push({ check: chain.name, ...warning(`Skipped because they need this chain: ${names}.`) });
  }
  return { result: worst(findings), findings };
}

async function run(check: Check, context: DoctorContext): Promise<Finding[]> {
  try {
    return [await check.run(context)].flat();
  } catch (error) {
    if (!(error instanceof ChainUnavailable || error instanceof RpcError)) throw error;
    return [
      problem(
        context.client.nodes.count === 1
          ? `The node at RPC_URL does not answer: ${describeError(error)}. Start it, or set RPC_URL to another node.`
          : `No node of RPC_URLS answers as it should: ${describeError(error)}. Start one, or put another into RPC_URLS.`,
      ),
    ];
  }
}

function worst(findings: readonly Finding[]): Result {
  return RESULTS.findLast((result) => findings.some((finding) => finding.result === result)) ?? "ok";
}
