import { type Command, InvalidArgumentError, Option } from "commander";

import { pickSettings } from "../config/settings.ts";
import { QUOTA_NAMES, type QuotaName, type Quotas, type QuotaUse } from "../domain/quota.ts";
import { createApp, removeApp } from "../operate/apps.ts";
import { listApps, lockApp } from "../store/apps/apps.ts";
import { readQuotaUse, setQuotas } from "../store/apps/quotas.ts";
import { withDatabase, withNewDatabase } from "./database.ts";
import { appNamed } from "./options.ts";
import { printResult, resultCommand, table, type Terminal, time } from "./terminal.ts";

type Limit = number | "none";

/** What each quota limits. */
const LIMITED: Record<QuotaName, string> = {
  media_bytes: "most bytes of copied media, each file once",
  media_requests: "most requests that wait for their media",
  wallets: "most wallets",
  stored_bytes: "most bytes of metadata and unlockable content",
  collections: "most requests for a collection that did not fail",
  mints: "most requests to mint that did not fail",
  api_tokens: "most tokens that work",
};

export function appQuota(terminal: Terminal): Command {
  const command = resultCommand("quota", "Show or set the quotas of an app.", {
    examples: ["app quota my-shop", "app quota my-shop --media-bytes 1000000000 --wallets none"],
    json: `{app_id, name, quotas: {media_bytes: {used, limit}, ${QUOTA_NAMES.filter((name) => name !== "media_bytes").join(", ")}}}`,
    notes:
      "Without options it changes nothing. A limit of null is unlimited. Calls that would exceed a quota get 429\n" +
      "quota_exceeded. A limit below what is used removes nothing: it refuses what is new.",
  }).argument("<app>", "name or id of the app");
  const options = QUOTA_NAMES.map((name) => {
    const flags = `--${name.replaceAll("_", "-")} <n>`;
    const option = new Option(flags, `${LIMITED[name]}, or: none`).argParser(readQuota);
    command.addOption(option);
    return { name, key: option.attributeName() };
  });
  return command.action(async (which: string, { json }: { json?: boolean }) => {
    const changes: Partial<Quotas> = {};
    for (const { name, key } of options) {
      const limit = command.getOptionValue(key) as Limit | undefined;
      if (limit !== undefined) changes[name] = limit === "none" ? null : limit;
    }
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

export function appCreate(terminal: Terminal): Command {
  return resultCommand("create", "Create an app and its first token. The token has all scopes except users.", {
    examples: ["app create my-shop", "app create my-shop --json"],
    json: "{app_id, name, token}",
    notes:
      "The token is printed only now. The database stores its hash.\n" +
      "The app gets the quotas of the setting APP_QUOTAS; `app quota` shows and changes them.",
  })
    .argument("<name>", "unique name of the app, 1 to 100 characters")
    .action(async (name: string, { json }: { json?: boolean }) => {
      const { appQuotas } = pickSettings(terminal.env, "appQuotas");
      const {
        appId,
        name: stored,
        token,
      } = await withNewDatabase(terminal, (database) => createApp({ database }, name, appQuotas));
      const text = [`app:   ${stored} (${appId})`, `token: ${token}`, "", "Save the token: it is not shown again."];
      printResult(terminal, json, { app_id: appId, name: stored, token }, text.join("\n"));
    });
}

export function appList(terminal: Terminal): Command {
  return resultCommand("list", "List all apps.", {
    examples: ["app list"],
    json: "[{app_id, name, created_at}]",
  }).action(async ({ json }: { json?: boolean }) => {
    const apps = await withDatabase(terminal, (database) => listApps(database.read));
    const result = apps.map((app) => ({ app_id: app.id, name: app.name, created_at: time(app.created_at) }));
    const rows = result.map((app) => [app.name, app.app_id, app.created_at ?? ""]);
    printResult(
      terminal,
      json,
      result,
      table(["NAME", "ID", "CREATED"], rows, "No apps yet. Create one: app create <name>"),
    );
  });
}

export function appRemove(terminal: Terminal): Command {
  return resultCommand("remove", "Remove an app that has no wallets and no requests.", {
    examples: ["app remove my-shop"],
    json: "{app_id, name}",
    notes:
      "An app with wallets or requests cannot be removed: its tokens on chain would become unreachable.\n" +
      "To lock such an app out, revoke its tokens.",
  })
    .argument("<app>", "name or id of the app")
    .action(async (which: string, { json }: { json?: boolean }) => {
      const app = await withDatabase(terminal, async (database) => {
        const found = await appNamed(database.read, which);
        await removeApp({ database }, found);
        return found;
      });
      printResult(terminal, json, { app_id: app.id, name: app.name }, `removed: ${app.name} (${app.id})`);
    });
}
