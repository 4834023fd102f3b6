import type { Command } from "commander";
import { formatEther } from "ethers";

import { networkOf } from "../config/networks.ts";
import { GWEI } from "../domain/wei.ts";
import { OperatorError } from "../operate/operator-error.ts";
import { withdraw } from "../operate/withdraw.ts";
import { addressOf } from "./address.ts";
import { announced } from "./announced.ts";
import { withServiceState } from "./database.ts";
import { readLimit } from "./options.ts";
import { printResult, resultCommand, type Terminal } from "./terminal.ts";

interface Options {
  to: string;
  wait: number;
  yes?: true;
  json?: boolean;
}

const WORDS: Readonly<Record<Awaited<ReturnType<typeof withdraw>>["status"], string>> = {
  sent: "It is final: the receiver has the coins.",
  failed: "It is final: the receiver refused the coins. The wallet still has them, less the cost of the gas.",
  replaced: "Another transaction of the wallet has used its nonce. Run this again to withdraw what is left.",
  open: "It is not final yet. Run the same command again to continue it and to see how it ends.",
};

export function walletWithdraw(terminal: Terminal): Command {
  return resultCommand("withdraw", "Move the chain's coins out of a wallet. The wallet pays the gas.", {
    examples: [
      "wallet withdraw 0x5FbDB2315678afecb367f032d93F642f64180aa3 --to 0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
    ],
    json: "{wallet, to, value_wei, transaction_hash, nonce, status}. status: sent, failed, replaced, or open when it is not final yet.",
    notes:
      "Sends all coins that the gas leaves, and no tokens. What the transaction offers for gas and does not use stays in the wallet.\n" +
      "It needs the node, the seed (SEED_FILE, SEED_PASSPHRASE), and a running service that follows the chain.\n" +
      "The transaction is recorded before it is sent. The same command continues it, with a higher fee if gas costs more by then, and\n" +
      "sends no coins twice. It is refused while a request of the wallet is being sent. Later requests of the wallet wait until the\n" +
      "withdrawal is final.",
  })
    .argument("<wallet>", "address of the wallet", addressOf)
    .requiredOption("--to <address>", "who gets the coins", addressOf)
    .option("--wait <seconds>", "how long to wait for the final block", readLimit, 60)
    .option("--yes", "do not ask")
    .action(async (wallet: string, options: Options) => {
      const { to, value, hash, nonce, status } = await run(terminal, wallet, options);
      const result = { wallet, to, value_wei: value.toString(), transaction_hash: hash, nonce, status };
      const what = `withdrawal: ${formatEther(value)} from ${wallet} to ${to}`;
      printResult(terminal, options.json, result, [what, `transaction: ${hash}`, WORDS[status]].join("\n"));
      if (status === "failed" || status === "replaced") terminal.fail?.();
    });
}

function run(terminal: Terminal, wallet: string, { to, wait, yes }: Options) {
  const confirm = async (what: string) => {
    if (yes === true) return;
    const answer = await terminal.ask?.(`Send ${what}? Coins that are sent cannot be taken back. Type yes: `);
    if (answer?.trim() !== "yes") throw new OperatorError(`Nothing was sent: ${what}. Answer yes, or add --yes.`);
  };
  const remark = (line: string) => terminal.remark?.(`${line}\n`);
  return withServiceState(terminal, async ({ database, client, chain, keys: { keyring, seedProblem }, settings }) => {
    if (keyring === null) throw new OperatorError(seedProblem ?? "The seed is missing.");
    const chainId = BigInt(chain.chainId);
    const maxFeePerGas = BigInt(settings.maxFeeGwei) * GWEI;
    const coin = networkOf(chainId)?.coin ?? "ether";
    const place = { database, client, chainId, keyring, maxFeePerGas, coin, confirm, remark };
    return announced(database, () => withdraw(place, wallet, to, wait * 1_000));
  });
}
