import { Command } from "commander";

import { appCreate } from "./app/create.ts";
import { appList } from "./app/list.ts";
import { appRemove } from "./app/remove.ts";
import { doctor } from "./doctor/doctor.ts";
import { keysCheck } from "./keys/check.ts";
import { keysCreate } from "./keys/create.ts";
import { keysRestore } from "./keys/restore.ts";
import { keysRotate } from "./keys/rotate.ts";
import { mediaCollect } from "./media/collect.ts";
import { reconcile } from "./reconcile/reconcile.ts";
import { requestList } from "./request/list.ts";
import { requestShow } from "./request/show.ts";
import { settings } from "./settings.ts";
import type { Terminal } from "./terminal.ts";
import { tokenCreate } from "./token/create.ts";
import { tokenList } from "./token/list.ts";
import { tokenRevoke } from "./token/revoke.ts";
import { tokenRotate } from "./token/rotate.ts";
import { webhookDeliveries } from "./webhook/deliveries.ts";
import { webhookDisable } from "./webhook/disable.ts";
import { webhookRedeliver } from "./webhook/redeliver.ts";
import { webhookShow } from "./webhook/show.ts";

/** Every command of the command line: one file each, grouped by what it is about. */
export function createProgram(terminal: Terminal): Command {
  const program = new Command("moneta")
    .description(
      "Administers Moneta. Works beside the running service; needs the database (DATABASE_URL or DATA_DIR), or the seed file for keys.",
    )
    .showHelpAfterError("(--help shows what there is)");
  const groups = [
    group("app", "The apps that use the service.", [appCreate(terminal), appList(terminal), appRemove(terminal)]),
    group("token", "The tokens that apps call with.", [
      tokenCreate(terminal),
      tokenList(terminal),
      tokenRotate(terminal),
      tokenRevoke(terminal),
    ]),
    group("keys", "The seed of all wallets and lanes.", [
      keysCreate(terminal),
      keysCheck(terminal),
      keysRestore(terminal),
      keysRotate(terminal),
    ]),
    group("request", "What apps asked for, and what became of it.", [requestShow(terminal), requestList(terminal)]),
    doctor(terminal),
    reconcile(terminal),
    group("media", "What is hosted on IPFS.", [mediaCollect(terminal)]),
    group("webhook", "Where apps are told what happened, and what they were told.", [
      webhookShow(terminal),
      webhookDeliveries(terminal),
      webhookRedeliver(terminal),
      webhookDisable(terminal),
    ]),
    settings(terminal),
  ];
  for (const command of groups) program.addCommand(command);
  return program;
}

function group(name: string, description: string, commands: Command[]): Command {
  const parent = new Command(name).description(description);
  for (const command of commands) parent.addCommand(command);
  return parent;
}
