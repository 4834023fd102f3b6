import { Command } from "commander";

import { appCreate } from "./app/create.ts";
import { appList } from "./app/list.ts";
import { appQuota } from "./app/quota.ts";
import { appRemove } from "./app/remove.ts";
import { backup } from "./backup.ts";
import { consoleLink } from "./console/link.ts";
import { consoleList } from "./console/list.ts";
import { consoleRevoke } from "./console/revoke.ts";
import { contractList } from "./contract/list.ts";
import { contractUnfollow } from "./contract/unfollow.ts";
import { doctor } from "./doctor/doctor.ts";
import { drop } from "./drop/drop.ts";
import { keysCheck } from "./keys/check.ts";
import { keysCreate } from "./keys/create.ts";
import { keysRestore } from "./keys/restore.ts";
import { keysRotate } from "./keys/rotate.ts";
import { listen } from "./listen/listen.ts";
import { mediaCollect } from "./media/collect.ts";
import { mediaMove } from "./media/move.ts";
import { mediaRemoveOld } from "./media/remove-old.ts";
import { migrate } from "./migrate.ts";
import { migrateTo } from "./migrate-to.ts";
import { prune } from "./prune.ts";
import { reconcile } from "./reconcile/reconcile.ts";
import { requestList } from "./request/list.ts";
import { requestShow } from "./request/show.ts";
import { restore } from "./restore.ts";
import { settings } from "./settings.ts";
import { PROGRAM, type Terminal } from "./terminal.ts";
import { tokenCreate } from "./token/create.ts";
import { tokenList } from "./token/list.ts";
import { tokenRevoke } from "./token/revoke.ts";
import { tokenRotate } from "./token/rotate.ts";
import { topUp } from "./top-up.ts";
import { usage } from "./usage.ts";
import { webhookDeliveries } from "./webhook/deliveries.ts";
import { webhookDisable } from "./webhook/disable.ts";
import { webhookRedeliver } from "./webhook/redeliver.ts";
import { webhookShow } from "./webhook/show.ts";

const AFTER = `
Commands work while the service runs. They use the database of DATABASE_URL or DATA_DIR.
\`npm start\` keeps its database in data/local: put DATA_DIR=data/local before the command.

Examples:
  ${PROGRAM} app create my-shop        create an app and print its token
  ${PROGRAM} console                   print a link that opens the console
  ${PROGRAM} request list --json       print the newest requests as JSON
  ${PROGRAM} doctor                    find out what is wrong
  ${PROGRAM} token create --help       options and examples of one command`;

/** The command line. Each command has its own file; folders are groups of commands. */
export function createProgram(terminal: Terminal): Command {
  const program = new Command(PROGRAM)
    .usage("<command> [options]")
    .description("Administers Moneta: apps, tokens, keys, requests and webhooks.")
    .addHelpText("after", AFTER)
    .showHelpAfterError("Add --help to see the usage.");
  const commands = [
    group("app", "Create, list and remove apps (tenants); set their quotas.", [
      appCreate(terminal),
      appList(terminal),
      appQuota(terminal),
      appRemove(terminal),
    ]),
    group("token", "Create, list, rotate and revoke the API tokens of an app.", [
      tokenCreate(terminal),
      tokenList(terminal),
      tokenRotate(terminal),
      tokenRevoke(terminal),
    ]),
    consoleGroup(terminal),
    group("keys", "Create, check and restore the seed file; rotate the encryption key.", [
      keysCreate(terminal),
      keysCheck(terminal),
      keysRestore(terminal),
      keysRotate(terminal),
    ]),
    group("request", "Show and list requests of all apps.", [requestShow(terminal), requestList(terminal)]),
    group("webhook", "Show or disable the webhook of an app; list and repeat deliveries.", [
      webhookShow(terminal),
      webhookDeliveries(terminal),
      webhookRedeliver(terminal),
      webhookDisable(terminal),
    ]),
    group("contract", "List the contracts of others that apps follow; end the following of one.", [
      contractList(terminal),
      contractUnfollow(terminal),
    ]),
    group("media", "Move hosted media, and delete what nothing refers to.", [
      mediaCollect(terminal),
      mediaMove(terminal),
      mediaRemoveOld(terminal),
    ]),
    listen(terminal),
    drop(terminal),
    usage(terminal),
    doctor(terminal),
    topUp(terminal),
    reconcile(terminal),
    backup(terminal),
    restore(terminal),
    prune(terminal),
    migrate(terminal),
    migrateTo(terminal),
    settings(terminal),
  ];
  for (const command of commands) program.addCommand(command);
  return program;
}

/** `console` alone prints a link. */
function consoleGroup(terminal: Terminal): Command {
  return group("console", "Print a link to the console; list and revoke its sessions.", [
    consoleList(terminal),
    consoleRevoke(terminal),
  ]).addCommand(consoleLink(terminal), { isDefault: true });
}

function group(name: string, description: string, commands: Command[]): Command {
  const parent = new Command(name).description(description).usage("<command> [options]");
  for (const command of commands) parent.addCommand(command);
  return parent;
}
