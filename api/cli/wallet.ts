import { type Command, InvalidArgumentError, Option } from "commander";
import { formatEther, getAddress, isAddress, parseEther, ZeroAddress } from "ethers";

import { networkOf } from "../config/networks.ts";
import { GWEI } from "../domain/wei.ts";
import { OperatorError } from "../operate/operator-error.ts";
import { makeWithdrawal, sendWithdrawal, type Withdraw } from "../operate/withdraw.ts";
import type { RecordedWithdrawal } from "../store/apps/withdrawals.ts";
import { announced } from "./announced.ts";
import { withServiceState } from "./database.ts";
import { printResult, resultCommand, type Terminal } from "./terminal.ts";

interface Options {
  to: string;
  amount?: bigint;
  wait: number;
  replace?: true;
  yes?: true;
  json?: boolean;
}

type Outcome = Awaited<ReturnType<typeof sendWithdrawal>>;

/** Seconds that the command waits for the final block. */
const WAIT = 60;

const WORDS: Readonly<Record<NonNullable<Outcome> | "open", string>> = {
  sent: "It is final: the coins have arrived.",
  failed: "It is final, and the receiver refused the coins: the wallet still has them, without the gas.",
  replaced:
    "Another transaction has used its nonce, perhaps an earlier version of the withdrawal. Run this again to withdraw what is left.",
  open: "It is not final yet. Run the same command again to send the same bytes once more and see how it ends.",
};

export function walletWithdraw(terminal: Terminal): Command {
  return resultCommand("withdraw", "Move the chain's coins out of a wallet; the wallet pays the gas.", {
    examples: [
      "wallet withdraw 0x5FbDB2315678afecb367f032d93F642f64180aa3 --to 0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
    ],
    json: "{wallet, to, value_wei, transaction_hash, nonce, status}. status: sent, failed, replaced, or open when it is not final yet.",
    notes:
      "Moves coins, not tokens. It needs the node and the seed (SEED_FILE, SEED_PASSPHRASE), and a running service that follows the\n" +
      "chain. The transaction is recorded before it is sent: the same command continues it, and no coins are sent twice. It is\n" +
      "refused while a request of the wallet is being sent, and the wallet's requests wait until the withdrawal is final.\n" +
      "Without --amount a small rest stays: what the transaction offers for gas and does not use.",
  })
    .argument("<wallet>", "address of the wallet", readAddress)
    .requiredOption("--to <address>", "who gets the coins", readAddress)
    .option("--amount <coins>", "how many, such as 0.25 (default: all that the gas leaves)", readAmount)
    .addOption(new Option("--wait <seconds>", "how long to wait for the final block").default(WAIT).argParser(readWait))
    .option("--replace", "sign an open withdrawal again, with the present fees; --to and --amount may be others")
    .option("--yes", "do not ask")
    .action(async (wallet: string, options: Options) => {
      const order = { wallet, to: options.to, amount: options.amount ?? null, replaces: options.replace === true };
      const { withdrawal, outcome } = await withdraw(terminal, order, options);
      const result = describe(withdrawal, outcome);
      const lines = [
        `withdrawal: ${formatEther(withdrawal.value)} from ${wallet} to ${withdrawal.to}`,
        `transaction: ${withdrawal.hash}`,
        WORDS[result.status],
      ];
      printResult(terminal, options.json, result, lines.join("\n"));
      if (outcome === "failed" || outcome === "replaced") terminal.fail?.();
    });
}

function withdraw(terminal: Terminal, order: Withdraw, { yes, wait }: Options) {
  return withServiceState(terminal, async ({ database, client, chain, keys, settings }) => {
    if (keys.keyring === null) throw new OperatorError(keys.seedProblem ?? "The seed is missing.");
    const chainId = BigInt(chain.chainId);
    const maxFeePerGas = BigInt(settings.maxFeeGwei) * GWEI;
    const place = { database, client, chainId, keyring: keys.keyring, maxFeePerGas };
    const coin = networkOf(chainId)?.coin ?? "ether";
    const confirm = async (value: bigint, most: bigint) => {
      const what = `${formatEther(value)} ${coin} from ${order.wallet} to ${order.to}, gas up to ${formatEther(most)} ${coin}`;
      if (yes === true) return;
      const answer = await terminal.ask?.(`Send ${what}? Coins that are sent cannot be taken back. Type yes: `);
      if (answer?.trim() !== "yes") throw new OperatorError(`Nothing was sent: ${what}. Answer yes, or add --yes.`);
    };
    return announced(database, async () => {
      const withdrawal = await makeWithdrawal(place, order, confirm);
      const say = (line: string) => terminal.remark?.(`${line}\n`);
      return { withdrawal, outcome: await sendWithdrawal(place, withdrawal, wait * 1_000, say) };
    });
  });
}

function describe({ wallet, to, value, hash, nonce }: RecordedWithdrawal, outcome: Outcome) {
  const status: keyof typeof WORDS = outcome ?? "open";
  return { wallet, to, value_wei: value.toString(), transaction_hash: hash, nonce, status };
}

function readAddress(text: string): string {
  if (!isAddress(text))
    throw new InvalidArgumentError("Give an address: 0x and 40 hex digits, with the right checksum.");
  const address = getAddress(text);
  if (address === ZeroAddress) throw new InvalidArgumentError("The zero address loses what it gets.");
  return address;
}

function readAmount(text: string): bigint {
  if (!/^\d{1,12}(\.\d{1,18})?$/.test(text) || parseEther(text) === 0n)
    throw new InvalidArgumentError("Give a number of coins above 0, such as 0.25.");
  return parseEther(text);
}

function readWait(text: string): number {
  const seconds = Number(text);
  if (!/^\d{1,4}$/.test(text)) throw new InvalidArgumentError("Give whole seconds from 0 to 9999.");
  return seconds;
}
