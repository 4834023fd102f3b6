import { existsSync } from "node:fs";

import type { Command } from "commander";
import { Wallet } from "ethers";

import { ChainClient } from "../chain/client.ts";
import { RpcProvider } from "../chain/rpc-provider.ts";
import { Rpc } from "../chain/rpc.ts";
import { parseSettings, type Settings } from "../config/settings.ts";
import { firstNode } from "../context/chain-link.ts";
import { deployerKeyOf } from "../keys/keyring.ts";
import { readSeedFile, SeedFileError } from "../keys/seed-file.ts";
import {
  administerRelay,
  findRelay,
  readAction,
  RELAY_ACTIONS,
  relayLines,
  type RelayResult,
} from "../operate/deploy/relay.ts";
import { explainingChain } from "../operate/deploy/transactions.ts";
import { givenDeployerKey } from "./deployer-key.ts";
import { printResult, resultCommand, type Terminal } from "./terminal.ts";

/** How long a call waits while the node's provider limits the rate of calls, in milliseconds. */
const COMMAND_WAIT = 60_000;

const EXAMPLES: Readonly<Record<string, string>> = {
  "add-operator": " 0x5FbDB2315678afecb367f032d93F642f64180aa3",
  "remove-operator": " 0x5FbDB2315678afecb367f032d93F642f64180aa3",
  cancel: " 12 13",
};

const NOTES = `The owner of the relay signs. Its key is that of DEPLOYER_PRIVATE_KEY, or of the file that is named, or the one that \`init\`
made from the seed (SEED_FILE, SEED_PASSPHRASE). If the owner is another account, such as a multisig, the command prints what
the owner must send, sends nothing, and ends with exit code 1. It needs the node (RPC_URL) and no database.`;

interface Options {
  relay?: string;
  keyFile?: string;
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
    .action((...args: unknown[]) => {
      const [given, options] = values === null ? [[], args[0]] : [args[0], args[1]];
      return administer(name, given as string[], options as Options, terminal);
    });
}

async function administer(name: string, values: string[], options: Options, terminal: Terminal): Promise<void> {
  const calls = readAction(name, values);
  const settings = parseSettings({ PUBLIC_URL: "http://localhost", ...terminal.env });
  const rpc = new Rpc(await firstNode(settings), { maxWait: COMMAND_WAIT });
  const provider = new RpcProvider(rpc, await new ChainClient(rpc).chainId());
  try {
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
  } finally {
    provider.destroy();
  }
}

/** The owner's private key: the given one, or that of the seed, which is opened only if it is needed. Null: neither. */
async function ownerKey(
  owner: string,
  { seedFile, seedPassphrase }: Settings,
  { keyFile }: Options,
  terminal: Terminal,
): Promise<string | null> {
  const given = givenDeployerKey(terminal.env, keyFile);
  if (given !== null && new Wallet(given).address === owner) return given;
  if (seedPassphrase === null || !existsSync(seedFile)) return null;
  try {
    const key = deployerKeyOf(await readSeedFile(seedFile, seedPassphrase));
    return new Wallet(key).address === owner ? key : null;
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
