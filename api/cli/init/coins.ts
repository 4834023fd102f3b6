import { setTimeout as pause } from "node:timers/promises";

import { formatEther, type Signer } from "ethers";
import { renderUnicodeCompact } from "uqr";

import { ChainUnavailable } from "../../chain/errors.ts";
import { networkOf } from "../../config/networks.ts";
import { isFunded, type Need, type Needs, needsOf } from "../../operate/deploy/fund.ts";
import type { Plan } from "../../operate/deploy/plan.ts";
import { OperatorError } from "../../operate/operator-error.ts";
import { table, type Terminal } from "../terminal.ts";

/** Milliseconds between two polls of the chain. */
const LOOK = 2_000;

/**
 * Shows which accounts need coins and how much, and waits until they are there.
 * @param most milliseconds; Infinity: no limit. @throws OperatorError after that time.
 */
export async function waitForCoins(plan: Plan, deployer: Signer, terminal: Terminal, most: number): Promise<Needs> {
  const needs = await needsOf(plan, deployer);
  if (isFunded(needs)) return needs;
  const owner = plan.owner === needs.deployer.address ? null : plan.owner;
  terminal.write(`${describeNeeds(needs, owner, plan.chainId)}\n`);
  const provider = deployer.provider;
  if (provider === null) throw new Error("The deployer has no provider.");
  const { wanted } = needs.deployer;
  let seen = needs.deployer.balance;
  await until(most, terminal, {
    waiting: () => `Waiting for coins: ${formatEther(seen)} of ${formatEther(wanted)} have arrived.`,
    isDone: async () => {
      seen = await provider.getBalance(needs.deployer.address);
      return seen >= wanted;
    },
    tooLate: () =>
      `${needs.deployer.address} has ${formatEther(seen)} and needs ${formatEther(wanted)}. Nothing was sent. Send it coins, and run the same command again.`,
  });
  terminal.write(`coins       ${formatEther(seen)} have arrived\n`);
  return { ...needs, deployer: { ...needs.deployer, balance: seen } };
}

interface Waiting {
  waiting: () => string;
  isDone: () => Promise<boolean>;
  /** What to say when the time is over. */
  tooLate: () => string;
}

/** Asks again and again. Each call has its own bound; a node that does not answer is asked again. */
export async function until(most: number, terminal: Terminal, { waiting, isDone, tooLate }: Waiting): Promise<void> {
  const end = performance.now() + most;
  let said = false;
  for (;;) {
    let note = "";
    try {
      if (await isDone()) {
        terminal.rewrite?.("");
        return;
      }
    } catch (error) {
      if (!(error instanceof ChainUnavailable)) throw error;
      note = ` The node does not answer at the moment: ${error.message}.`;
    }
    if (performance.now() >= end) throw new OperatorError(tooLate());
    if (!said && terminal.rewrite === undefined) terminal.remark?.(`${waiting()}\n`);
    said = true;
    terminal.rewrite?.(`${waiting()}${note} Ctrl-C stops; the same command goes on later.`);
    await pause(Math.min(LOOK, Math.max(0, end - performance.now())));
  }
}

/** @param chainId of a known network: names its coin, and for a test network where to get it. */
function describeNeeds({ deployer, lanes }: Needs, owner: string | null, chainId: bigint): string {
  const network = networkOf(chainId);
  const name = (index: number) => (lanes.length === 1 ? "lane" : `lane ${index.toString()}`);
  const row = (role: string, { address, balance, wanted }: Need, what: string) => [
    role,
    address,
    formatEther(wanted),
    formatEther(balance),
    what,
  ];
  const rows = [
    row(owner === null ? "deployer and owner" : "deployer", deployer, "deploys the contracts, then fills the lanes"),
    ...(owner === null ? [] : [["owner", owner, "", "", "must sign for each lane after the deployment"]]),
    ...lanes.map((lane, index) => row(name(index), lane, "pays for your users' transactions")),
  ];
  return [
    "",
    table(["ACCOUNT", "ADDRESS", "NEEDS", "HAS", "WHAT IT DOES"], rows, ""),
    "",
    `Send ${formatEther(deployer.wanted - deployer.balance)} ${network?.coin ?? "of the chain's coins"} to the deployer: ${deployer.address}`,
    ...(network?.test === true
      ? [
          `They cost nothing on ${network.title}.${network.faucetUrl === null ? "" : ` Where to get them: ${network.faucetUrl}`}`,
        ]
      : []),
    "That is enough for everything: it passes on what the lanes need. The code below has this address and the chain.",
    "",
    renderUnicodeCompact(`ethereum:${deployer.address}@${chainId.toString()}`),
    "",
  ].join("\n");
}
