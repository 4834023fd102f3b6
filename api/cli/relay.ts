import type { Command } from "commander";
import { Wallet } from "ethers";

import { parseSettings, type Settings } from "../config/settings.ts";
import { SeedFileError } from "../keys/seed-file.ts";
import {
  administerRelay,
  findRelay,
  readAction,
  RELAY_ACTIONS,
  relayLines,
  type RelayResult,
} from "../operate/deploy/relay.ts";
import { explainingChain } from "../operate/deploy/transactions.ts";
import { givenDeployerKey, type KeyPlace, seedDeployerKey } from "./deployer-key.ts";
import { withNode } from "./node.ts";
import { printResult, resultCommand, type Terminal } from "./terminal.ts";

const EXAMPLES: Readonly<Record<string, string>> = {
  "add-operator": " 0x5FbDB2315678afecb367f032d93F642f64180aa3",
  "remove-operator": " 0x5FbDB2315678afecb367f032d93F642f64180aa3",
  cancel: " 12 13",
};

const NOTES = `The owner of the relay signs. Its key comes from DEPLOYER_PRIVATE_KEY, --key-file or --key-command, or it is the one that
\`init\` made from the seed (SEED_FILE, SEED_PASSPHRASE). If the owner is another account, such as a multisig, the command prints what
the owner must send, sends nothing, and ends with exit code 1. It needs the node (RPC_URL) and no database.`;

interface Options extends KeyPlace {
  relay?: string;
  json?: true;
}

/** One command for each action on the relay. */
export const relayVerbs = Object.keys(RELAY_ACTIONS).map((name) => (terminal: Terminal) => relayVerb(name, terminal));

function relayVerb(name: string, terminal: Terminal): Command {
  const { description = "", values = null } = RELAY_ACTIONS[name] ?? {};
  const command = resultCommand(name, description, {
    examples: [`relay ${name}${EXAMPLES[name] ?? ""}`],
    json: "{relay, owner, paused, operators: [{address, balance_wei}] (both null when not read), sent: [{call, transaction_hash, block_number}], to_do: [{call, to, data}]}",
    notes: NOTES,
  });
  if (values !== null) command.argument(`<${values}...>`);
  return command
    .option("--relay <address>", "address of the relay (default: that of the deployment file)")
    .option("--key-file <file>", "file with the private key of the relay's owner")
    .option("--key-command <command>", "shell command that prints that key, such as one of a password manager")
    .action((...args: unknown[]) => {
      const [given, options] = values === null ? [[], args[0]] : [args[0], args[1]];
      return administer(name, given as string[], options as Options, terminal);
    });
}

async function administer(name: string, values: string[], options: Options, terminal: Terminal): Promise<void> {
  const calls = readAction(name, values);
  const settings = parseSettings({ PUBLIC_URL: "http://localhost", ...terminal.env });
  await withNode(settings, async (provider) => {
    const place = await findRelay(options.relay ?? "", settings.deploymentsDir, provider);
    const signerOf = async (owner: string) => {
      const key = await ownerKey(owner, settings, options, terminal);
      return key === null ? null : new Wallet(key, provider);
    };
    const say = (line: string) => terminal.remark?.(`${line}\n`);
    const result = await explainingChain(() => administerRelay(calls, place, { provider, signerOf }, say));
    printResult(terminal, options.json, describe(result), relayLines(result).join("\n"));
    // Whoever runs this in a script must know that nothing has changed.
    if (result.toDo.length > 0) terminal.fail?.();
  });
}

/** The owner's private key: the given one, or that of the seed, which is opened only if it is needed. Null: neither. */
async function ownerKey(
  owner: string,
  settings: Settings,
  place: KeyPlace,
  terminal: Terminal,
): Promise<string | null> {
  const given = givenDeployerKey(terminal.env, place);
  if (given !== null && new Wallet(given).address === owner) return given;
  try {
    const key = await seedDeployerKey(settings);
    return key !== null && new Wallet(key).address === owner ? key : null;
  } catch (error) {
    // The owner may be somebody else, who must see what to send.
    if (!(error instanceof SeedFileError)) throw error;
    terminal.remark?.(`${error.message}\n`);
    return null;
  }
}

function describe({ relay, owner, sent, toDo, state }: RelayResult) {
  return {
    relay,
    owner,
    paused: state?.paused ?? null,
    operators: state?.operators.map(({ address, balance }) => ({ address, balance_wei: balance.toString() })) ?? null,
    sent: sent.map((one) => ({
      call: one.call,
      transaction_hash: one.transactionHash,
      block_number: one.blockNumber,
    })),
    to_do: toDo.map(({ text, data }) => ({ call: text, to: relay, data })),
  };
}
