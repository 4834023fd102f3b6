import type { Command } from "commander";

import { showFollowed, unfollowContract } from "../commands/follow-contents.ts";
import { readDeploymentFile } from "../operate/deploy/journal.ts";
import { verifiersOf } from "../operate/deploy/verifiers.ts";
import { verifyCollections, verifySources } from "../operate/deploy/verify.ts";
import { OperatorError } from "../operate/operator-error.ts";
import { plural } from "../shared/text.ts";
import type { Db } from "../store/db/sql.ts";
import { type FollowedContractView, listFollowedContracts } from "../store/listings/followed-contracts.ts";
import { addressOf } from "./address.ts";
import { announced } from "./announced.ts";
import { withDatabase, withServiceState } from "./database.ts";
import { appNamed, appsNamed } from "./options.ts";
import { printResult, resultCommand, table, type Terminal, time } from "./terminal.ts";

/** Contracts read at once. */
const PAGE = 500;

export function contractList(terminal: Terminal): Command {
  return resultCommand("list", "List the contracts of others that apps follow.", {
    examples: ["contract list", "contract list --app my-shop"],
    json: "[{app_id, address, type, name, state, reason, as_of_block, until, followed_at}]",
    notes: "A quarantined contract is tried again by itself at the time in `until`.",
  })
    .option("--app <app>", "only contracts that this app follows (name or id)")
    .action(async ({ json, app }: { json?: boolean; app?: string }) => {
      const found = await withDatabase(terminal, async ({ read }) => {
        const lists = [];
        for (const { id, name } of await appsNamed(read, app))
          lists.push({ id, name, contracts: await allOf(read, id) });
        return lists;
      });
      const result = found.flatMap(({ id, contracts }) =>
        contracts.map((one) => ({ app_id: id, ...showFollowed(one) })),
      );
      const rows = found.flatMap(({ name, contracts }) =>
        contracts.map((contract) => [
          contract.address,
          name,
          contract.type ?? "",
          contract.state + (contract.reason === null ? "" : ` (${contract.reason})`),
          contract.asOf?.toString() ?? "",
          time(contract.until) ?? "",
        ]),
      );
      const head = ["ADDRESS", "APP", "TYPE", "STATE", "AS OF BLOCK", "UNTIL"];
      printResult(terminal, json, result, table(head, rows, "No app follows a contract of others."));
    });
}

async function allOf(db: Db, appId: string): Promise<FollowedContractView[]> {
  const all: FollowedContractView[] = [];
  let after: number | null = null;
  for (;;) {
    const page = await listFollowedContracts(db, appId, { limit: PAGE, offset: 0, after });
    all.push(...page.items);
    if (page.next === null) return all;
    after = page.next.after;
  }
}

export function contractUnfollow(terminal: Terminal): Command {
  return resultCommand("unfollow", "Stop following a contract of others, for one app.", {
    examples: ["contract unfollow my-shop 0xA487a7aD5Dd6B34eD3732D495181d4FA70946C60"],
    json: "{app_id, address}",
    notes:
      "The contract's tokens leave the lists of the app's wallets; their history stays. The app can follow the contract again.",
  })
    .argument("<app>", "name or id of the app")
    .argument("<address>", "address of the contract, from `contract list`", addressOf)
    .action(async (which: string, address: string, { json }: { json?: boolean }) => {
      const app = await withDatabase(terminal, async (database) => {
        const found = await appNamed(database.read, which);
        if (!(await unfollowContract({ database }, found.id, address)))
          throw new OperatorError(
            `${found.name} does not follow ${address}, or has adopted it. \`contract list --app\` shows what it follows.`,
          );
        return found;
      });
      printResult(terminal, json, { app_id: app.id, address }, `${app.name} no longer follows ${address}`);
    });
}

export function contractVerify(terminal: Terminal): Command {
  return resultCommand(
    "verify",
    "Publish the sources of the implementations, and ask whether collections are verified.",
    {
      examples: ["contract verify"],
      json: "{due, verified, failed}: how many collections were asked about, and the answers; the rest got no answer",
      notes:
        "Asks Sourcify, and Etherscan with ETHERSCAN_API_KEY, about each collection whose field `verified` is null or `failed`, and\n" +
        "stores the answer. The service may run. Run it again after new collections, or after a failure.",
    },
  ).action(async ({ json }: { json?: boolean }) => {
    const say = (line: string) => terminal.remark?.(`${line}\n`);
    const result = await withServiceState(terminal, async ({ database, client, chain, settings }) => {
      const chainId = BigInt(chain.chainId);
      const { verifiers, missing } = verifiersOf(chainId, settings.verification);
      for (const each of missing) say(`  verify    ${each}`);
      const deployment = await readDeploymentFile({ folder: settings.deploymentsDir, chainId });
      if (deployment !== null) await verifySources(verifiers, deployment, null, say);
      return announced(database, () => verifyCollections({ database, client }, verifiers, say));
    });
    const { due, verified, failed } = result;
    const text = `${plural(due, "collection")} asked about: ${verified.toString()} verified, ${failed.toString()} not, ${(due - verified - failed).toString()} without an answer.`;
    printResult(terminal, json, result, text);
    if (verified < due) terminal.fail?.();
  });
}
