import type { Command } from "commander";
import { getAddress, isAddress } from "ethers";

import { unfollowContract } from "../commands/follow-contents.ts";
import { OperatorError } from "../operate/operator-error.ts";
import { plural } from "../shared/text.ts";
import type { Db } from "../store/db/sql.ts";
import { type FollowedContractView, listFollowedContracts } from "../store/listings/followed-contracts.ts";
import { retryFailedVerifications } from "../store/listings/verifications.ts";
import { withDatabase } from "./database.ts";
import { appNamed, appsNamed } from "./options.ts";
import { printResult, resultCommand, table, type Terminal, time } from "./terminal.ts";

/** Contracts read or changed at once. */
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
      const result = found.flatMap(({ id, contracts }) => contracts.map((contract) => describe(id, contract)));
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

function describe(appId: string, contract: FollowedContractView) {
  return {
    app_id: appId,
    address: contract.address,
    type: contract.type,
    name: contract.name,
    state: contract.state,
    reason: contract.reason,
    as_of_block: contract.asOf,
    until: time(contract.until),
    followed_at: time(contract.followedSince),
  };
}

export function contractUnfollow(terminal: Terminal): Command {
  return resultCommand("unfollow", "Stop following a contract of others, for one app.", {
    examples: ["contract unfollow my-shop 0xA487a7aD5Dd6B34eD3732D495181d4FA70946C60"],
    json: "{app_id, address}",
    notes:
      "The contract's tokens leave the lists of the app's wallets; their history stays. The app can follow the contract again.",
  })
    .argument("<app>", "name or id of the app")
    .argument("<address>", "address of the contract, from `contract list`")
    .action(async (which: string, text: string, { json }: { json?: boolean }) => {
      const valid: boolean = isAddress(text);
      if (!valid) throw new OperatorError(`${text} is not an address. \`contract list\` shows the addresses.`);
      const address = getAddress(text);
      const app = await withDatabase(terminal, async (database) => {
        const found = await appNamed(database.read, which);
        if (!(await unfollowContract({ database }, found.id, address)))
          throw new OperatorError(
            `${found.name} does not follow ${address}. \`contract list --app\` shows what it follows.`,
          );
        return found;
      });
      printResult(terminal, json, { app_id: app.id, address }, `${app.name} no longer follows ${address}`);
    });
}

export function contractVerify(terminal: Terminal): Command {
  return resultCommand("verify", "Verify the collections again whose verification has failed.", {
    examples: ["contract verify"],
    json: "{due}",
    notes:
      "Only marks them. The running service asks the verifier of VERIFY_COLLECTIONS, one collection after the other. Publish the\n" +
      "sources of the contracts first: `deploy --verify`.",
  }).action(async ({ json }: { json?: boolean }) => {
    const due = await withDatabase(terminal, async (database) => {
      for (let total = 0; ;) {
        const found = await database.write((trx) => retryFailedVerifications(trx, PAGE));
        total += found;
        if (found < PAGE) return total;
      }
    });
    printResult(
      terminal,
      json,
      { due },
      `${plural(due, "collection is", "collections are")} due to be verified again.`,
    );
  });
}
