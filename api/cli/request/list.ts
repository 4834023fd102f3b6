import { type Command, Option } from "commander";

import { REQUEST_STATUSES, REQUEST_TYPES, type RequestStatus, type RequestType } from "../../domain/request.ts";
import { listApps } from "../../store/apps/apps.ts";
import type { Db } from "../../store/db/engine.ts";
import { listRequests } from "../../store/requests/requests.ts";
import type { StoredRequest } from "../../store/requests/stored-request.ts";
import { appNamed } from "../find-app.ts";
import { readLimit } from "../limit.ts";
import { printResult, resultCommand, table, type Terminal, withDatabase } from "../terminal.ts";
import { describeRequest } from "./describe.ts";

interface Options {
  json?: boolean;
  app?: string;
  status?: RequestStatus;
  type?: RequestType;
  limit: number;
}

export function requestList(terminal: Terminal): Command {
  return resultCommand("list", "List requests, newest first.")
    .option("--app <app>", "only of the app with this name or id")
    .addOption(new Option("--status <status>", "only in this status").choices(REQUEST_STATUSES))
    .addOption(new Option("--type <type>", "only of this type").choices(REQUEST_TYPES))
    .option("--limit <n>", "how many at most", readLimit, 30)
    .addHelpText("after", "\nJSON: [{request_id, app_id, type, status, ...}]")
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
      printResult(terminal, options.json, result, table(head, cells, "There is no such request."));
    });
}

/** App by app, because that is what the indexes serve. */
async function newest(db: Db, { app, status, type, limit }: Options): Promise<StoredRequest[]> {
  const apps = app === undefined ? await listApps(db) : [await appNamed(db, app)];
  const filter = { status: status ?? null, type: type ?? null };
  const rows: StoredRequest[] = [];
  for (const { id } of apps) {
    rows.push(...(await listRequests(db, id, filter, { limit, offset: 0, after: null })).items);
  }
  return rows.sort((a, b) => b.seq - a.seq).slice(0, limit);
}
