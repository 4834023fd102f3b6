import type { Condition } from "../domain/conditions.ts";
import { type DecidedRequest, finalChanges } from "../store/requests/requests.ts";
import type { RecordedBatch } from "../store/sending/batches.ts";
import type { Unsent } from "../store/sending/claims.ts";
import type { Batch } from "./build-batch.ts";
import type { RelayerContext } from "./context.ts";

/** Says in the log and the metrics what a commit has stored. @param ended the requests that became final. */
export function reportCommit(
  context: RelayerContext,
  { requests, unsent }: Batch,
  { hash, nonce, gasLimit, firstTime }: RecordedBatch,
  ended: readonly DecidedRequest[],
): void {
  const { logger, metrics, signals, now } = context;
  const fields = { hash, nonce, requests: requests.length, gasLimit: gasLimit.toString() };
  logger.info(fields, "batch committed");
  metrics.batch(requests.length);
  metrics.requests(
    firstTime.map(({ id, type, created_at: acceptedAt }) => {
      return { id, type, status: "processing", errorCode: null, seconds: (now() - acceptedAt) / 1_000 };
    }),
  );
  signals.deliveries.notify();
  reportUnsent(context, unsent, ended);
}

/** Says why claimed requests were not sent. @param ended those that became final. */
export function reportUnsent(
  { logger, metrics, signals, now }: RelayerContext,
  unsent: readonly Unsent[],
  ended: readonly DecidedRequest[],
): void {
  const held = unsent.filter((one) => one.kind === "held");
  const [first] = held;
  if (first !== undefined)
    logger.warn(
      { condition: "row_parked" satisfies Condition, requests: held.length, first: first.request.id },
      `requests wait because of what a node names, and the others go on. The first: ${first.heldBy}`,
    );
  for (const one of unsent) {
    if (one.kind !== "fails") continue;
    const { request, failure, cause } = one;
    const { errors } = failure;
    // Its earlier transaction may still run it: only the chain may end it.
    if (request.status !== "pending")
      logger.warn(
        { request: request.id, errors, ...(cause === null ? {} : { err: cause }) },
        "a request that was signed before cannot be signed again now: it waits for its earlier transaction, and is checked again in ten minutes",
      );
    else if (cause === null)
      logger.info(
        { request: request.id, errors },
        "a request failed before sending: it would fail on chain, or no transaction has room for it",
      );
    else
      logger.error(
        { request: request.id, err: cause },
        "a request failed before sending: it cannot be encoded as a contract call",
      );
  }
  if (ended.length === 0) return;
  metrics.requests(finalChanges(ended, now()));
  signals.deliveries.notify();
}
