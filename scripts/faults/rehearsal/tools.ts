import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { type HDNodeWallet, Wallet } from "ethers";

import { answerOf, createClient } from "../../../client/client.ts";
import { networkCodeOf } from "../../../client/errors.ts";
import { runCommand } from "../../scene/command-line.ts";
import { until } from "../../scene/until.ts";

/** A step of the rehearsal, and what it showed. */
export interface Finding {
  what: string;
  /** What was seen; null: it could not be tried here. */
  result: string | null;
}

/** Milliseconds after which what is waited for does not come any more. */
const LONGEST_WAIT = 300_000;
/** How long a rehearsal waits for a program, and how often it looks. */
export const PATIENCE = { within: LONGEST_WAIT, every: 100 };

/** An address that no wallet of the service has. */
export const NOBODY = "0x00000000000000000000000000000000DeaDBeef";

export function notInstalled(what: string, program: string, debianPackage: string): Finding {
  return { what: `${what} (needs ${program}: Debian's package ${debianPackage})`, result: null };
}

/** @throws when what was seen is not what the documents say. */
export function require(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new Error(otherwise);
}

/** The commands of the one block of a document that begins with this text. A command may have several lines. */
export function documentedCommands(document: string, begin: string): string[] {
  const blocks = [...readFileSync(document, "utf8").matchAll(/^```bash\n(.*?)^```$/gms)].map(([, block = ""]) => block);
  const found = blocks.filter((block) => block.startsWith(begin));
  require(found.length === 1, `${document} has ${found.length} blocks that begin with "${begin}"`);
  return (found[0] ?? "").split(/(?<!\\)\n/).filter((command) => command !== "");
}

/** Base Sepolia, for the service: a public chain. */
export const CHAIN = 84_532;
/** Coins that are more than a deployment and two lanes need, as quantity of wei. */
export const COINS = "0xde0b6b3a7640000";

/**
 * Makes an installation in a folder: `moneta.env`, and the seed. The deployer and the lanes get coins.
 * @param more settings. @param send calls the node.
 */
export async function makeInstallation(
  folder: string,
  seedFile: string,
  more: Record<string, string>,
  send: (method: string, params: unknown[]) => Promise<unknown>,
): Promise<{ settings: Record<string, string>; deployer: HDNodeWallet }> {
  const settings = {
    PUBLIC_URL: "https://nft.example.com",
    SEED_PASSPHRASE: randomBytes(16).toString("hex"),
    SECRET_KEYS: randomBytes(32).toString("base64"),
    ...more,
  };
  const text = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
  writeFileSync(join(folder, "moneta.env"), text.join(""));
  const keys = await runCommand({ ...settings, SEED_FILE: seedFile }, ["keys", "create", "--json"]);
  const { lanes } = JSON.parse(keys) as { lanes: string[] };
  const deployer = Wallet.createRandom();
  for (const address of [deployer.address, ...lanes]) await send("anvil_setBalance", [address, COINS]);
  return { settings, deployer };
}

/** Errors of a connection while nobody listens yet. A proxy of a container accepts it before, and closes it. */
const NOT_YET = ["ECONNREFUSED", "ECONNRESET", "UND_ERR_SOCKET"];

/** Waits until the service says that it is ready. @param gone why it will never be; null while it runs. */
export async function untilReady(baseUrl: string, gone: () => Promise<string | null>): Promise<void> {
  const isReady = async () => {
    const reason = await gone();
    require(reason === null, `the service ended: ${reason ?? ""}`);
    try {
      return (await fetch(`${baseUrl}/readyz`)).status === 200;
    } catch (error) {
      if (NOT_YET.includes(networkCodeOf(error) ?? "")) return false;
      throw error;
    }
  };
  await until(`${baseUrl}/readyz`, isReady, PATIENCE);
}

/** Makes a collection and mints a token of it. @returns the token's number. */
export async function mintOne(baseUrl: string, token: string): Promise<number> {
  const client = createClient({ baseUrl, token });
  const body = { type: "ERC721", name: "Rehearsal", symbol: "RHS" } as const;
  const { request_id: id } = await answerOf(client.POST("/v1/collections", { body }));
  const collection = await client.waitFor(id, { type: "collection", timeout: LONGEST_WAIT });
  const minted = await client.mintAndWait(
    { collection_address: collection.nft_collection, to_address: NOBODY },
    { timeout: LONGEST_WAIT },
  );
  return Number(minted.nft_token_id);
}
