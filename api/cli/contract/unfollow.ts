import type { Command } from "commander";
import { getAddress, isAddress } from "ethers";

import { unfollowContract } from "../../commands/unfollow-contract.ts";
import { OperatorError } from "../../operator/operator-error.ts";
import { withDatabase } from "../database.ts";
import { appNamed } from "../find-app.ts";
import { printResult, resultCommand, type Terminal } from "../terminal.ts";

export function contractUnfollow(terminal: Terminal): Command {
  return resultCommand("unfollow", "End the following of a contract of others by an app.", {
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
