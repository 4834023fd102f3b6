import { type Command, Option } from "commander";

import { pickSettings } from "../config/settings.ts";
import { REQUEST_STATUSES, REQUEST_TYPES, type RequestStatus, type RequestType } from "../domain/request.ts";
import { type PipelineReasons, waitingFor } from "../domain/waiting-for.ts";
import { OperatorError } from "../operate/operator-error.ts";
import { repairRequest } from "../operate/repair-request.ts";
import { inOneLine } from "../shared/text.ts";
import { leaseTimes } from "../shared/lease.ts";
import type { Db } from "../store/db/sql.ts";
import { failUnsigned, type Unendable } from "../store/media/fail-unsigned.ts";
import { readReasons } from "../store/sending/lanes.ts";
import { findRequest, listRequests, type ListedRequest } from "../store/requests/requests.ts";
import { withDatabase } from "./database.ts";
import { appsNamed, readLimit } from "./options.ts";
import { printResult, resultCommand, table, type Terminal, time } from "./terminal.ts";

interface Options {
  json?: boolean;
  app?: string;
  status?: RequestStatus;
  type?: RequestType;
  reference?: string;
  limit: number;
}

export function requestList(terminal: Terminal): Command {
  return resultCommand("list", "List requests, newest first.", {
    examples: ["request list", "request list --app my-shop --status failed --limit 100"],
    json: "[{request_id, app_id, type, status, ...}]",
  })
    .option("--app <app>", "only requests of this app (name or id)")
    .addOption(new Option("--status <status>", "only requests in this status").choices(REQUEST_STATUSES))
    .addOption(new Option("--type <type>", "only requests of this type").choices(REQUEST_TYPES))
    .option("--reference <text>", "only requests with this reference of their app")
    .option("--limit <n>", "maximum number of requests", readLimit, 30)
    .action(async (options: Options) => {
      const result = await withDatabase(terminal, async ({ read }) =>
        (await newest(read, options)).map(describeWith(await reasonsOf(read, terminal))),
      );
      const cells = result.map((row) => [
        row.request_id,
        row.type,
        row.status,
        row.error_code ?? row.waiting_for ?? "",
        row.created_at ?? "",
      ]);
      const head = ["ID", "TYPE", "STATUS", "ERROR OR REASON", "CREATED"];
      printResult(terminal, options.json, result, table(head, cells, "No requests found."));
    });
}

/** Queries each app by itself: the indexes start with the app. */
async function newest(db: Db, { app, status, type, reference, limit }: Options): Promise<ListedRequest[]> {
  const filter = { status: status ?? null, type: type ?? null, reference: reference ?? null };
  const rows: ListedRequest[] = [];
  for (const { id } of await appsNamed(db, app)) {
    rows.push(...(await listRequests(db, id, filter, { limit, offset: 0, after: null })).items);
  }
  return rows.sort((a, b) => b.seq - a.seq).slice(0, limit);
}

export function requestShow(terminal: Terminal): Command {
  return resultCommand("show", "Show a request of any app, with its command.", {
    examples: [`request show ${"0123456789abcdef".repeat(4)}`],
    json: "{request_id, app_id, type, status, ..., command}",
    notes: "Never shows unlockable content.",
  })
    .argument("<request-id>", "id of the request")
    .action(async (id: string, { json }: { json?: boolean }) => {
      const { row, describe } = await withDatabase(terminal, async ({ read }) => ({
        row: await findRequest(read, null, id),
        describe: describeWith(await reasonsOf(read, terminal)),
      }));
      if (row === undefined)
        throw new OperatorError(`There is no request with the id ${id}. \`request list\` shows the newest ones.`);
      const result = { ...describe(row), command: row.command };
      const lines = Object.entries(result)
        .filter(([, value]) => value !== null)
        .map(
          ([name, value]) =>
            `${`${name}:`.padEnd(18)}${inOneLine(typeof value === "string" ? value : JSON.stringify(value))}`,
        );
      printResult(terminal, json, result, lines.join("\n"));
    });
}

export function requestFail(terminal: Terminal): Command {
  return resultCommand(
    "fail",
    "End a request that was never signed, for example one that waits for a higher gas limit.",
    {
      examples: [`request fail ${"0123456789abcdef".repeat(4)}`],
      json: "{request_id, status, error_code}",
      notes:
        "The request fails with `ended_by_operator`, what it reserved is released, and its app gets the event. A request that was\n" +
        "signed is refused: its transaction may still run it, so only the chain ends it.",
    },
  )
    .argument("<request-id>", "id of the request")
    .action(async (id: string, { json }: { json?: boolean }) => {
      const refusal = await withDatabase(terminal, (database) =>
        database.write((trx) => failUnsigned(trx, id, "ended_by_operator", Date.now())),
      );
      if (refusal !== null) throw new OperatorError(REFUSALS[refusal](id));
      const result = { request_id: id, status: "failed", error_code: "ended_by_operator" };
      printResult(terminal, json, result, `Request ${id} has failed with ended_by_operator. It was never signed.`);
    });
}

const REFUSALS: Readonly<Record<Unendable, (id: string) => string>> = {
  unknown: (id) => `There is no request with the id ${id}. \`request list\` shows the newest ones.`,
  final: (id) => `Request ${id} is final already: \`request show ${id}\` says how it ended. Nothing was changed.`,
  signed: (id) =>
    `Request ${id} was signed: its transaction may still run it, so only the chain can end it. \`request show ${id}\` names ` +
    "the transaction. To keep its number from running, use `relay cancel`.",
  claimed: (id) => `A lane is building a transaction with request ${id} just now. Run this command again.`,
};

export function requestRepair(terminal: Terminal): Command {
  return resultCommand(
    "repair",
    "Make the command of a request again, which cannot be read, from its signed transaction.",
    {
      examples: [`request repair ${"0123456789abcdef".repeat(4)}`],
      json: "{request_id, command}",
      notes: "For a request that `doctor` or the log names. A request that was never signed cannot be repaired.",
    },
  )
    .argument("<request-id>", "id of the request")
    .action(async (id: string, { json }: { json?: boolean }) => {
      const command = await withDatabase(terminal, (database) => repairRequest(database, id));
      printResult(terminal, json, { request_id: id, command }, `repaired: ${JSON.stringify(command)}`);
    });
}

function reasonsOf(db: Db, { env }: Terminal): Promise<PipelineReasons> {
  const { lanes, leaseSeconds } = pickSettings(env, "lanes", "leaseSeconds");
  return readReasons(db, { lanes, now: Date.now(), presence: leaseTimes(leaseSeconds).lasts });
}

/** A request as the operator sees it: the fields of the API, and its place in the pipeline. */
function describeWith(reasons: PipelineReasons) {
  return (row: ListedRequest) => ({
    request_id: row.id,
    app_id: row.app_id,
    type: row.type,
    status: row.status,
    waiting_for: waitingFor(row, reasons, Date.now()),
    reference: row.reference,
    nft_collection: row.nft_collection,
    nft_token_id: row.nft_token_id,
    from_address: row.from_address,
    to_address: row.to_address,
    quantity: row.quantity,
    retry_of: row.retry_of,
    retried_by: row.retried_by,
    number: row.number?.toString() ?? null,
    lane: row.lane,
    batch: row.batch_id,
    returns: row.returns,
    transaction_hash: row.transaction_hash,
    block_number: row.block_number,
    gas_used: row.gas_used,
    fee_wei: row.fee_wei,
    error_code: row.error_code,
    errors: row.errors,
    created_at: time(row.created_at),
    updated_at: time(row.updated_at),
  });
}
