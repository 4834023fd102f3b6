import type { Command } from "commander";
import { VoidSigner, Wallet } from "ethers";

import { deploymentFile } from "../chain/contracts.ts";
import type { RpcProvider } from "../chain/rpc-provider.ts";
import { networkOf } from "../config/networks.ts";
import { parseSettings } from "../config/settings.ts";
import { deploy as deployPlan, unsignedTransactions } from "../operate/deploy/deploy-contracts.ts";
import { readDeploymentFile } from "../operate/deploy/journal.ts";
import { type DeployOptions, type Plan, readAddress, readPlan } from "../operate/deploy/plan.ts";
import { explainingChain, type Say, type Unsigned, writeUnsigned } from "../operate/deploy/transactions.ts";
import { publishSources } from "../operate/deploy/verify.ts";
import { OperatorError } from "../operate/operator-error.ts";
import { type KeyPlace, requireDeployerKey } from "./deployer-key.ts";
import { withNode } from "./node.ts";
import { printResult, resultCommand, type Terminal } from "./terminal.ts";

const NOTES = `Deploys the bytecode that is part of this program, and compiles nothing. It needs a node (RPC_URL or RPC_URLS), PUBLIC_URL and no
database, and writes the addresses to DEPLOYMENTS_DIR. Running it again is safe: it continues, and sends nothing twice.

The key of the account that pays comes from --key-file or --key-command, else from DEPLOYER_PRIVATE_KEY, else it is the one that
\`init\` made from the seed (SEED_FILE, SEED_PASSPHRASE).

For a hardware wallet or a multisig: --unsigned <file> --from <address> sends nothing. It writes the transactions to the file, as
Safe's Transaction Builder reads them. Send them in their order, each as a transaction of its own: together they can need more
gas than the chain allows in one transaction. Then run the same command again, until it says "Nothing is left to sign." and ends
with exit code 0.`;

interface Options extends KeyPlace, DeployOptions {
  from?: string;
  unsigned?: string;
  dryRun?: true;
  verify?: true;
  json?: true;
}

export function deploy(terminal: Terminal): Command {
  return resultCommand("deploy", "Deploy the contracts; running it again is safe.", {
    examples: [
      "deploy --dry-run --from 0x5FbDB2315678afecb367f032d93F642f64180aa3",
      "deploy --key-file deployer.key --owner 0x5FbDB2315678afecb367f032d93F642f64180aa3",
      "deploy --unsigned deploy.json --from 0x5FbDB2315678afecb367f032d93F642f64180aa3",
    ],
    json: "{chain_id, deployment_file (null after a dry run, or while contracts are missing), ready, unsigned: [{name, to, data}], verified (null without --verify)}",
    notes: NOTES,
  })
    .option("--owner <address>", "owner of the relay (default: the account that deploys)")
    .option("--operators <addresses>", "addresses of the lanes, separated by commas (default: those of the seed)")
    .option("--public-url <url>", "public URL of the service (default: PUBLIC_URL)")
    .option(
      "--storage <storage>",
      "storage of new ERC721 collections: compact (mints cost less) or standard (default: as chosen before, else compact)",
    )
    .option("--key-file <file>", "file with the private key of the account that pays")
    .option("--key-command <command>", "shell command that prints that key, such as one of a password manager")
    .option("--from <address>", "the account, where its key is not needed: with --unsigned or --dry-run")
    .option("--unsigned <file>", "send nothing; write to this file what the account must sign")
    .option("--dry-run", "check the chain, print the cost, and send nothing")
    .option("--verify", "publish the sources of the contracts at Sourcify, and at Etherscan with ETHERSCAN_API_KEY")
    .action((options: Options) => run(options, terminal));
}

async function run(options: Options, terminal: Terminal): Promise<void> {
  const from = fromOf(options);
  const settings = parseSettings({ PUBLIC_URL: "http://localhost", ...terminal.env });
  await withNode(settings, async (provider) => {
    const signer =
      from === null
        ? new Wallet(await requireDeployerKey(terminal.env, options, settings), provider)
        : new VoidSigner(from, provider);
    const wanted = { ...options, dryRun: options.dryRun ?? false };
    const plan = await readPlan(terminal.env, wanted, provider, signer.address);
    const say: Say = (line) => {
      if (options.json === true) terminal.remark?.(`${line}\n`);
      else terminal.write(`${line}\n`);
    };
    say(`Deploying to ${titleOf(plan)} as ${signer.address}.`);
    const result = await explainingChain(() => deployAs(signer, plan, { options, provider, say }));
    const { file, ready, unsigned } = result;
    const deployment = options.verify === true && file !== null ? await readDeploymentFile(plan) : null;
    const verified = deployment && (await publishSources(plan, deployment, settings.verification, say));
    if (options.json === true)
      printResult(
        terminal,
        true,
        { chain_id: plan.chainId.toString(), deployment_file: file, ready, unsigned, verified },
        "",
      );
    // Whoever runs this in a script must know that something is left to sign.
    if (unsigned.length > 0 || verified === false) terminal.fail?.();
  });
}

interface Outcome {
  /** The deployment file, once it is written. */
  file: string | null;
  /** Whether lanes can send. */
  ready: boolean;
  unsigned: Unsigned[];
}

async function deployAs(
  signer: Wallet | VoidSigner,
  plan: Plan,
  { options, provider, say }: { options: Options; provider: RpcProvider; say: Say },
): Promise<Outcome> {
  const file = deploymentFile(plan.folder, plan.chainId);
  if (options.unsigned === undefined) {
    const deployed = await deployPlan(plan, signer, say);
    return { file: deployed === null ? null : file, ready: deployed?.ready ?? false, unsigned: [] };
  }
  const unsigned = await unsignedTransactions(plan, signer.address, provider, say);
  if (unsigned.length === 0) {
    say("Nothing is left to sign.");
    return { file, ready: plan.operators.length > 0, unsigned };
  }
  await writeUnsigned(options.unsigned, plan.chainId, unsigned);
  for (const { name, to } of unsigned) say(`  to sign   ${name}, to ${to}`);
  say(`Wrote ${options.unsigned}. Send these transactions one after the other, then run the same command again.`);
  return { file: null, ready: false, unsigned };
}

/** The account whose key is elsewhere; null when its key is here. @throws OperatorError for options that do not fit together */
function fromOf({ from, unsigned, dryRun, keyFile, keyCommand }: Options): string | null {
  if (unsigned !== undefined && dryRun === true)
    throw new OperatorError("--unsigned sends nothing, so --dry-run beside it has no meaning. Leave one of them out.");
  if (from === undefined) {
    if (unsigned === undefined) return null;
    throw new OperatorError("--unsigned needs --from <address>: the account that will sign.");
  }
  if (unsigned === undefined && dryRun !== true)
    throw new OperatorError("--from is for --unsigned and --dry-run. To send, the key of the account is needed.");
  if (keyFile !== undefined || keyCommand !== undefined)
    throw new OperatorError("--from is for an account without a key here. Leave out --key-file and --key-command.");
  return readAddress(from, "--from");
}

function titleOf({ chainId }: Plan): string {
  const known = networkOf(chainId);
  return known === undefined ? `chain ${chainId.toString()}` : `${known.title} (chain ${chainId.toString()})`;
}
