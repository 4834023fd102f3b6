import { type Command, Option } from "commander";

import { REQUEST_STATUSES, REQUEST_TYPES, type RequestStatus, type RequestType } from "../../domain/request.ts";
import { listApps } from "../../store/apps/apps.ts";
import type { Db } from "../../store/db/engine.ts";
import { listRequests } from "../../store/requests/requests.ts";
import type { StoredRequest } from "../../store/requests/stored-request.ts";
import { withDatabase } from "../database.ts";
import { appNamed } from "../find-app.ts";
import { readLimit } from "../limit.ts";
import { printResult, resultCommand, table, type Terminal } from "../terminal.ts";
import { describeRequest } from "./describe.ts";

interface Options {
  json?: boolean;
  app?: string;
  status?: RequestStatus;
  type?: RequestType;
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
    .option("--limit <n>", "maximum number of requests", readLimit, 30)
    .action(async (options: Options) => {
      const rows = await withDatabase(terminal, (database) => newest(database.read, options));
      const result = rows.map(describeRequest);
      const cells = result.map((row) => [
        row.request_id,
        row.type,
        row.status,
        row.error_code ?? "",
        row.created_at ?? "",
      ]);
      const head = ["ID", "TYPE", "STATUS", "ERROR", "CREATED"];
      printResult(terminal, options.json, result, table(head, cells, "No requests found."));
    });
}

/** Queries each app by itself: the indexes start with the app. */
async function newest(db: Db, { app, status, type, limit }: Options): Promise<StoredRequest[]> {
  const apps = app === undefined ? await listApps(db) : [await appNamed(db, app)];
  const filter = { status: status ?? null, type: type ?? null };
  const rows: StoredRequest[] = [];
  for (const { id } of apps) {
    rows.push(...(await listRequests(db, id, filter, { limit, offset: 0, after: null })).items);
  }
  return rows.sort((a, b) => b.seq - a.seq).slice(0, limit);
}
