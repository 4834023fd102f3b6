import { type Command, InvalidArgumentError } from "commander";

import { QUOTA_NAMES, type QuotaName, type Quotas, type QuotaUse } from "../../domain/quota.ts";
import { lockApp } from "../../store/apps/apps.ts";
import { readQuotaUse, setQuotas } from "../../store/apps/quotas.ts";
import { withDatabase } from "../database.ts";
import { appNamed } from "../find-app.ts";
import { printResult, resultCommand, table, type Terminal } from "../terminal.ts";

type Limit = number | "none";

interface Options {
  json?: boolean;
  mediaBytes?: Limit;
  mediaRequests?: Limit;
  wallets?: Limit;
  storedBytes?: Limit;
  collections?: Limit;
  mints?: Limit;
  apiTokens?: Limit;
}

export function appQuota(terminal: Terminal): Command {
  return resultCommand("quota", "Show or set the quotas of an app.", {
    examples: ["app quota my-shop", "app quota my-shop --media-bytes 1000000000 --wallets none"],
    json: `{app_id, name, quotas: {media_bytes: {used, limit}, ${QUOTA_NAMES.filter((name) => name !== "media_bytes").join(", ")}}}`,
    notes:
      "Without options it changes nothing. A limit of null is unlimited. Calls that would exceed a quota get 429\n" +
      "quota_exceeded. A limit below what is used removes nothing: it refuses what is new.",
  })
    .argument("<app>", "name or id of the app")
    .option("--media-bytes <n>", "most bytes of copied media, each file once, or: none", readQuota)
    .option("--media-requests <n>", "most requests that wait for their media, or: none", readQuota)
    .option("--wallets <n>", "most wallets, or: none", readQuota)
    .option("--stored-bytes <n>", "most bytes of metadata and unlockable content, or: none", readQuota)
    .option("--collections <n>", "most requests for a collection that did not fail, or: none", readQuota)
    .option("--mints <n>", "most requests to mint that did not fail, or: none", readQuota)
    .option("--api-tokens <n>", "most tokens that work, or: none", readQuota)
    .action(async (which: string, { json, ...options }: Options) => {
      const given: [QuotaName, Limit | undefined][] = [
        ["media_bytes", options.mediaBytes],
        ["media_requests", options.mediaRequests],
        ["wallets", options.wallets],
        ["stored_bytes", options.storedBytes],
        ["collections", options.collections],
        ["mints", options.mints],
        ["api_tokens", options.apiTokens],
      ];
      const changes: Partial<Quotas> = {};
      for (const [name, limit] of given) if (limit !== undefined) changes[name] = limit === "none" ? null : limit;
      const { app, quotas } = await withDatabase(terminal, async (database) => {
        const found = await appNamed(database.read, which);
        await database.write(async (trx) => {
          await lockApp(trx, found.id);
          await setQuotas(trx, found.id, changes);
        });
        return { app: found, quotas: await readQuotaUse(database.read, found.id) };
      });
      printResult(terminal, json, { app_id: app.id, name: app.name, quotas }, textOf(app.name, quotas));
    });
}

function textOf(name: string, quotas: QuotaUse): string {
  const rows = QUOTA_NAMES.map((quota) => {
    const { used, limit } = quotas[quota];
    return [quota, used.toString(), limit?.toString() ?? "none"];
  });
  return `${name}\n\n${table(["QUOTA", "USED", "LIMIT"], rows, "")}`;
}

function readQuota(text: string): Limit {
  if (text === "none") return text;
  const limit = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(limit)) throw new InvalidArgumentError("Give a whole number from 0 on, or none.");
  return limit;
}
