import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";

import { type Command, Option } from "commander";
import { Wallet } from "ethers";

import { ChainClient } from "../../chain/client.ts";
import { LOCAL_CHAIN_ID } from "../../chain/local-contracts.ts";
import { RpcProvider } from "../../chain/rpc-provider.ts";
import { Nodes } from "../../chain/nodes.ts";
import { createConsoleLink, LINK_MINUTES } from "../../commands/console-session.ts";
import { type KnownNetwork, networkOf, NETWORKS, rpcVariable } from "../../config/networks.ts";
import { startFile } from "../../config/settings-file.ts";
import { type Environment, parseSettings, pickSettings, type Settings } from "../../config/settings.ts";
import { COMMAND_WAIT, firstNode } from "../../context/chain-link.ts";
import { run } from "../../context/run.ts";
import { type CollectionStorage, DEFAULT_STORAGE, STORAGES } from "../../domain/command.ts";
import { createKeyring, deployerKeyOf } from "../../keys/keyring.ts";
import { deployContracts } from "../../operate/deploy/deploy-contracts.ts";
import { fundLanes } from "../../operate/deploy/fund.ts";
import { type Plan, readPlan } from "../../operate/deploy/plan.ts";
import { administer, countCalls } from "../../operate/deploy/relay.ts";
import { explainingChain } from "../../operate/deploy/transactions.ts";
import { keptToken } from "../../operate/kept-token.ts";
import { OperatorError } from "../../operate/operator-error.ts";
import { makeFolder } from "../../shared/folder.ts";
import { type Database, openExistingDatabase } from "../../store/db/database.ts";
import { databaseName, DatabaseMissing } from "../../store/db/errors.ts";
import { readMeta } from "../../store/db/meta.ts";
import { lockFile } from "../../store/db/sqlite/sqlite.ts";
import { withDatabase, withNewDatabase } from "../database.ts";
import { givenDeployerKey } from "../deployer-key.ts";
import { isHttpUrl, readDuration } from "../options.ts";
import { PROGRAM, printResult, resultCommand, type Terminal } from "../terminal.ts";
import { until, waitForCoins } from "./coins.ts";
import { seedPhrase, withPassphrase } from "./seed.ts";
import { readSettingsFile, type SettingsFile, writeSettings } from "./settings-file.ts";

/** Where the service looks for settings by itself. */
const DEFAULT_FILE = ".env";
/** What the file keeps, so that the service and the next run use the same. */
const KEPT = [
  ...(["RPC_URL", "RPC_URLS", "PUBLIC_URL", "EXPLORER_URL", "LANES", "PORT", "HOST"] as const),
  ...(["DATA_DIR", "DEPLOYMENTS_DIR", "DATABASE_URL", "SEED_FILE", "CONFIRMATIONS"] as const),
  ...(["SEED_PASSPHRASE_FILE", "SECRET_KEYS"] as const),
];

const NAMES = NETWORKS.map(({ name }) => name).join(", ");
/** The chains to try first: their coins cost nothing. */
const TEST_NAMES = NETWORKS.filter(({ test }) => test).map(({ name }) => name);
const NOTES = `It makes the keys, shows which account needs coins and waits for them, deploys the contracts, writes the settings to .env and
starts the service. Stop it at any time, and run the same command again: it continues. Nothing is made or deployed twice.

Secrets are never options. They come from the environment or from files:
  RPC_URL, or <CHAIN>_RPC_URL      URL of a node, such as SEPOLIA_RPC_URL. Without one, a terminal asks.
  SEED_PASSPHRASE(_FILE)           encrypts the seed (default: a new file in DATA_DIR, mode 0600)
  SECRET_KEYS                      encrypts the database (default: a new key, in the settings)
  DEPLOYER_PRIVATE_KEY             key of an account of yours that deploys (default: one made from the seed)`;

interface Options {
  chain?: string;
  rpcUrl?: string;
  publicUrl?: string;
  owner?: string;
  lanes?: string;
  storage?: CollectionStorage;
  app: string;
  settingsFile: string;
  deployerKeyFile?: string;
  withoutWords?: boolean;
  wait: number;
  start: boolean;
  json?: true;
}

export function init(terminal: Terminal): Command {
  return resultCommand("init", "Set up Moneta on a chain: keys, coins, contracts, settings. Then start it.", {
    examples: [
      "init --chain baseSepolia",
      "init --rpc-url http://127.0.0.1:8545 --public-url https://nft.example.com",
      "init --chain sepolia --without-words --wait 30m --no-start",
    ],
    json: "{chain_id, settings_file, app, token}, when everything is ready; everything else on standard error",
    notes: NOTES,
  })
    .option("--chain <name>", `a chain that is known by name: ${NAMES}`)
    .option("--rpc-url <url>", "URL of a node, for another chain. If it has a key, put it into the variable RPC_URL")
    .option("--public-url <url>", "URL at which others reach the service (default: http://localhost:<PORT>)")
    .option("--owner <address>", "owner of the relay, such as a multisig (default: the deployer)")
    .option("--lanes <count>", "accounts that send transactions in parallel (default: LANES, else 1)")
    .addOption(
      new Option(
        "--storage <storage>",
        `storage of new ERC721 collections (default: ${DEFAULT_STORAGE}, whose mints cost less)`,
      ).choices(STORAGES),
    )
    .option("--app <name>", "the first app", "my-app")
    .option("--settings-file <file>", "the file with the settings", DEFAULT_FILE)
    .option("--deployer-key-file <file>", "file with the private key of the account that deploys")
    .option("--without-words", "do not show the words of a new seed: then only its file and passphrase keep the keys")
    .addOption(
      new Option("--wait <duration>", "how long to wait for coins, such as 30m")
        .argParser(readDuration)
        .default(Infinity, "without limit"),
    )
    .option("--no-start", "print the line that starts the service instead of starting it")
    .action((options: Options) => setUp(options, terminal));
}

/** Sets everything up, then starts the service or says how to. */
async function setUp(options: Options, output: Terminal): Promise<void> {
  const terminal = options.json === true ? { ...output, write: (text: string) => output.remark?.(text) } : output;
  const { env, settings, chain, token } = await stoppable(terminal, () => askAndMake(options, terminal));
  const file = options.settingsFile;
  const result = { chain_id: chain.chainId.toString(), settings_file: file, app: options.app, token };
  if (options.json === true) printResult(output, true, result, "");
  const start = file === DEFAULT_FILE ? "npm run api" : `npx node --env-file=${file} api/main.ts`;
  if (!options.start) {
    terminal.write(`token: ${token}\n\nEverything is ready. Start the service:\n  ${start}\n`);
    terminal.write(`A link to the console: ${PROGRAM} console\n`);
    return;
  }
  await run(env);
  const link = await withDatabase({ ...terminal, env }, (database) =>
    createConsoleLink({ database, publicUrl: settings.publicUrl }, { appId: null, scopes: null }),
  );
  terminal.write(`
Moneta is ready on ${chain.title}. It serves until you press Ctrl-C. To start it again: ${start}

base URL: ${settings.publicUrl}
token: ${token}

Your first mint: open the console, create a collection, then mint. Or use "The main job, with curl" of README.md with
  export MONETA_URL=http://localhost:${settings.port.toString()}
  export MONETA_TOKEN=<the token above>

Open the console in your browser (the link works once, within ${LINK_MINUTES.toString()} minutes):
  ${link.url}
`);
}

interface Ready {
  env: Environment;
  settings: Settings;
  chain: ChosenChain;
  token: string;
}

/** Asks and checks first; then makes the keys, the settings, the contracts and a token. Each step continues an earlier run. */
async function askAndMake(options: Options, terminal: Terminal): Promise<Ready> {
  const { dataDir } = pickSettings(terminal.env, "dataDir");
  // Such a folder has other keys, another database and other settings.
  if (existsSync(startFile(dataDir)))
    throw new OperatorError(
      `The folder ${dataDir} belongs to \`npm start\`. Remove DATA_DIR from the environment, or use another folder: DATA_DIR=data.`,
    );
  const file = readSettingsFile(options.settingsFile);
  const given = { ...file.values, ...withoutBlanks(terminal.env) };
  const chain = await chooseChain(options, given, terminal);
  const chosen = { ...given, ...(await chooseSettings(options, given, chain, terminal)) };
  await requireOwnDatabase(chosen, chain);
  return alone(chosen, async () => {
    // Another run may have ended while this one asked. Its keys must not be replaced.
    if (readSettingsFile(file.path).text !== file.text)
      throw new OperatorError(`${file.path} has changed meanwhile. Run the same command again: it continues.`);
    const sealed = await withPassphrase(chosen, terminal);
    const { env, settings } = await keepSettings(file, sealed, chain, terminal);
    const phrase = await seedPhrase(env, terminal, options.withoutWords === true);
    await deployAll(options, chain, phrase, env, terminal);
    const app = { dataDir: settings.dataDir, app: options.app, name: "init", quotas: settings.appQuotas };
    const token = await withNewDatabase({ ...terminal, env }, (database) => keptToken(database, app));
    terminal.write(`app         ${options.app}\n`);
    return { env, settings, chain, token };
  });
}

/** Two runs at once would send transactions twice. @throws OperatorError when another run is at work. */
async function alone<T>(env: Environment, work: () => Promise<T>): Promise<T> {
  const { dataDir } = parseSettings(env);
  makeFolder(dataDir);
  const unlock = lockFile(join(dataDir, "init.lock"));
  if (unlock === null)
    throw new OperatorError(`Another run of this command is at work in ${dataDir}. Wait until it ends, or stop it.`);
  try {
    return await work();
  } finally {
    unlock();
  }
}

/** While it works, says how to go on when the user stops the command. */
async function stoppable<T>(terminal: Terminal, work: () => Promise<T>): Promise<T> {
  const stop = (): void => {
    terminal.rewrite?.("");
    terminal.remark?.("\nStopped. Run the same command again: it continues.\n");
    process.exit(130);
  };
  const signals = ["SIGINT", "SIGTERM"] as const;
  for (const signal of signals) process.on(signal, stop);
  try {
    return await work();
  } finally {
    for (const signal of signals) process.off(signal, stop);
  }
}

function withoutBlanks(env: Environment): Environment {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value.trim() !== ""));
}

interface ChosenChain {
  title: string;
  chainId: bigint;
  client: ChainClient;
  /** Of its node, or of several. */
  setting: ["RPC_URL" | "RPC_URLS", string];
  /** Undefined when the chain is not known by name. */
  network: KnownNetwork | undefined;
}

/** @throws OperatorError, ChainUnavailable */
async function chooseChain(options: Options, env: Environment, terminal: Terminal): Promise<ChosenChain> {
  const known: KnownNetwork | undefined = NETWORKS.find(({ name }) => name === options.chain);
  if (options.chain !== undefined && known === undefined)
    throw new OperatorError(
      `--chain: ${options.chain} is not known. The known chains are ${NAMES}. For another chain: --rpc-url <url>. For a local chain: npm start`,
    );
  const { setting, rpcUrl } = await chooseNodes(options, known, env, terminal);
  const client = new ChainClient(new Nodes([rpcUrl], { maxWait: COMMAND_WAIT }));
  const chainId = await client.chainId();
  if (known !== undefined && BigInt(known.chainId) !== chainId)
    throw new OperatorError(
      `The node serves chain ${chainId.toString()}, but ${known.name} is chain ${known.chainId.toString()}. Set ${setting[0]} to ${setting[0] === "RPC_URL" ? "a node" : "nodes"} of ${known.title}, or correct --chain.`,
    );
  if (chainId === LOCAL_CHAIN_ID)
    throw new OperatorError(`Chain ${chainId.toString()} is a local chain. \`npm start\` sets up everything on it.`);
  const network = networkOf(chainId);
  const title = network?.title ?? `chain ${chainId.toString()}`;
  terminal.write(`chain       ${title} (chain id ${chainId.toString()})\n`);
  if (network?.test !== true)
    terminal.write("            If coins of this chain are money, give the relay a safe owner: --owner <address>\n");
  return { title, chainId, client, setting, network };
}

/**
 * The nodes, as a setting, and the one that this command uses: of a list, the first that works.
 * @throws OperatorError, SettingsError
 */
async function chooseNodes(
  options: Options,
  known: KnownNetwork | undefined,
  env: Environment,
  terminal: Terminal,
): Promise<Pick<ChosenChain, "setting"> & { rpcUrl: string }> {
  const { RPC_URLS: list, RPC_URL: one } = env;
  if (list !== undefined) {
    if (options.rpcUrl !== undefined || one !== undefined)
      throw new OperatorError(
        "RPC_URLS names the nodes already. Remove RPC_URL and --rpc-url, or add their URL to RPC_URLS.",
      );
    const url = await firstNode(parseSettings({ PUBLIC_URL: "http://localhost", RPC_URLS: list }));
    return { setting: ["RPC_URLS", list], rpcUrl: url };
  }
  const [variable, title] = known === undefined ? ["RPC_URL", "the chain"] : [rpcVariable(known.name), known.title];
  const ask = async () => {
    const other =
      known === undefined ? `; or stop, and name a test network with --chain: ${TEST_NAMES.join(", ")}` : "";
    return (await terminal.ask?.(`URL of a node of ${title} (https://...${other}): `))?.trim() ?? "";
  };
  const rpcUrl = options.rpcUrl ?? one ?? env[variable] ?? (await ask());
  if (rpcUrl === "")
    throw new OperatorError(
      `The URL of a node of ${title} is missing. Add this line to your shell: export ${variable}=https://…` +
        (known === undefined ? ` Or name a test network: --chain ${TEST_NAMES.join(" | ")}.` : ""),
    );
  if (!isHttpUrl(rpcUrl)) throw new OperatorError("The URL of the node must start with http:// or https://.");
  return { setting: ["RPC_URL", rpcUrl], rpcUrl };
}

/** The database must be new, or that of this chain. @throws OperatorError */
async function requireOwnDatabase(env: Environment, { chainId, title }: ChosenChain): Promise<void> {
  const { databaseUrl } = parseSettings(env);
  let database: Database;
  try {
    database = await openExistingDatabase(databaseUrl);
  } catch (error) {
    if (error instanceof DatabaseMissing) return;
    throw error;
  }
  try {
    const bound = await readMeta(database.read, "chain_id");
    if (bound === null || bound === chainId.toString()) return;
    throw new OperatorError(
      `The database ${databaseName(databaseUrl)} belongs to chain ${bound}, not to ${title}. Use another folder for this chain: add DATA_DIR=data/${chainId.toString()} before the command.`,
    );
  } finally {
    await database.close();
  }
}

/** The settings that the options, or the user's answers, decide. */
async function chooseSettings(
  options: Options,
  env: Environment,
  { setting, network }: ChosenChain,
  terminal: Terminal,
): Promise<Environment> {
  const local = `http://localhost:${env["PORT"] ?? "3000"}`;
  const ask = () => terminal.ask?.(`URL at which others reach the service (Enter: ${local}): `);
  const publicUrl = options.publicUrl ?? env["PUBLIC_URL"] ?? (await ask())?.trim() ?? "";
  const chosen: Environment = {
    [setting[0]]: setting[1],
    PUBLIC_URL: publicUrl === "" ? local : publicUrl,
    ...(options.lanes === undefined ? {} : { LANES: options.lanes }),
    ...(env["EXPLORER_URL"] === undefined && network !== undefined ? { EXPLORER_URL: network.explorerUrl } : {}),
  };
  if (chosen["PUBLIC_URL"] === local)
    terminal.write(`public url  ${local}: only this machine can read the metadata of hosted tokens\n`);
  return chosen;
}

/** Writes the settings, so that from now on each run uses the same. */
async function keepSettings(
  file: SettingsFile,
  chosen: Environment,
  { network }: ChosenChain,
  terminal: Terminal,
): Promise<{ env: Environment; settings: Settings }> {
  // Only new settings get the number of the chain: that of an installation in use does not change.
  const confirmations = file.values["SECRET_KEYS"] === undefined ? (network?.confirmations ?? null) : null;
  const env: Environment = {
    ...(confirmations === null ? {} : { CONFIRMATIONS: confirmations.toString() }),
    SECRET_KEYS: randomBytes(32).toString("base64"),
    ...chosen,
  };
  const settings = parseSettings(env);
  const added = await writeSettings(file, new Map(KEPT.map((variable) => [variable, env[variable]])));
  terminal.write(`settings    ${file.path}${added.length === 0 ? "" : ` written: ${added.join(", ")}`}\n`);
  return { env, settings };
}

/** Everything on the chain: coins, contracts, operators. */
async function deployAll(options: Options, chain: ChosenChain, phrase: string, env: Environment, terminal: Terminal) {
  const place = options.deployerKeyFile === undefined ? {} : { keyFile: options.deployerKeyFile };
  const key = givenDeployerKey(env, place) ?? deployerKeyOf(phrase);
  const keyring = createKeyring(phrase);
  const operators = pickSettings(env, "lanes").lanes.map((lane) => keyring.lane(lane).address);
  const provider = new RpcProvider(chain.client, chain.chainId);
  try {
    const deployer = new Wallet(key, provider);
    await explainingChain(async () => {
      const wanted = { ...options, operators: operators.join(","), dryRun: false };
      const plan = await readPlan(env, wanted, provider, deployer.address);
      await deployPlan(plan, deployer, provider, options.wait, terminal);
    });
  } finally {
    provider.destroy();
  }
}

async function deployPlan(
  plan: Plan,
  deployer: Wallet,
  provider: RpcProvider,
  wait: number,
  terminal: Terminal,
): Promise<void> {
  const say = (line: string) => {
    terminal.write(`${line}\n`);
  };
  // One that a killed run has sent may wait for its block. What it makes must not be sent, or estimated, a second time.
  await until(wait, terminal, {
    waiting: () => "Waiting for a transaction that was sent before.",
    isDone: async () => (await deployer.getNonce("pending")) <= (await deployer.getNonce("latest")),
    tooLate: () => `A transaction of ${deployer.address} is in no block yet. Run the same command again later.`,
  });
  const needs = await waitForCoins(plan, deployer, terminal, wait);
  const deployment = await deployContracts(plan, deployer, say);
  if (deployment === null) return;
  await fundLanes(needs, deployer, say);
  const account = { provider, deployer: deployer.address, signer: deployer };
  if ((await administer(plan, deployment, account, say)).toDo.length === 0) return;
  await until(wait, terminal, {
    waiting: () => `Waiting until the owner ${plan.owner} has done that.`,
    isDone: async () => (await countCalls(plan, deployment, provider)) === 0,
    tooLate: () => `The owner ${plan.owner} has not done that yet. Run the same command again afterwards.`,
  });
}
