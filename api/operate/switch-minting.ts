import type { ChainClient } from "../chain/client.ts";
import { mintFunction, MINT_FUNCTIONS, type MintFunction, NoMintFunction } from "../chain/codec/mint-function.ts";
import { type MintingFacts, mintingFacts, readRights, type RelayRights, tryMint } from "../chain/minting.ts";
import { FOREIGN_READ_SECONDS } from "../config/limits.ts";
import type { Database } from "../store/db/database.ts";
import { mintingOf, switchMintingOn } from "../store/requests/minting.ts";
import type { StoredCollection } from "../store/listings/collections.ts";
import { tokensAfter } from "../store/requests/rescued-tokens.ts";
import { OperatorError } from "./operator-error.ts";

/** Gas with which a mint is tried. */
const TRIAL_GAS = 2_000_000;
/** Tokens of the contract of which more copies are tried. */
const SOME_TOKENS = 3;

interface Place {
  database: Database;
  client: ChainClient;
  relay: string;
}

/** What was found about a contract into which the service shall mint. */
export interface Mintable {
  minting: MintFunction;
  facts: MintingFacts;
  /** Whether the rights of the relay could be checked. */
  areRightsKnown: boolean;
  /** Whether the contract had another owner when minting was switched on before. */
  hasNewOwner: boolean;
}

/**
 * Looks at an adopted contract: by which function the relay can mint, that it can do nothing else there, and what the contract is.
 * @param wanted the function that the operator names; null: the known ones are tried.
 * @throws OperatorError when the relay cannot mint there, or could do more.
 */
export async function findMintable(
  { database, client, relay }: Place,
  { address, type }: StoredCollection,
  wanted: string | null,
): Promise<Mintable> {
  const bounds = { gas: TRIAL_GAS, abort: AbortSignal.timeout(FOREIGN_READ_SECONDS * 1_000) };
  const tokens = await tokensAfter(database.read, address, 0, SOME_TOKENS);
  const subject = { contract: address, type, relay, known: tokens.map(({ token_id: id }) => id) };
  // First: what changes afterwards is not what was confirmed.
  const found = await confirmed(database, client, address);
  const tried: string[] = [];
  for (const text of wanted === null ? MINT_FUNCTIONS[type] : [wanted]) {
    const minting = readFunction(text);
    const rights = await readRights(client, address, minting, relay, bounds);
    if (rights.excess.length > 0)
      throw new OperatorError(
        `The relay ${relay} could do more in ${address} than mint: ${rights.excess.join(", ")}. Take these rights from it.`,
      );
    const reason = await tryMint(client, subject, minting, bounds);
    if (reason === null) return { minting, ...found, areRightsKnown: rights.areKnown };
    tried.push(`${text}: ${reason}${rightsWords(rights)}`);
  }
  throw new OperatorError(
    [`The relay ${relay} cannot mint into ${address}. Tried:`, ...tried.map((line) => `  ${line}`), NO_WAY].join("\n"),
  );
}

const NO_WAY =
  "Let the contract's owner give the relay the right to mint (docs/migrate.md), or name the function with --mint. Where only the " +
  "owner can mint, the service cannot.";

function rightsWords({ grant }: RelayRights): string {
  return grant === null ? "" : ` Its administrator calls ${grant.function} of ${grant.to}, data ${grant.data}`;
}

/** @throws OperatorError */
function readFunction(text: string): MintFunction {
  try {
    return mintFunction(text);
  } catch (error) {
    throw error instanceof NoMintFunction ? new OperatorError(error.message) : error;
  }
}

async function confirmed(database: Database, client: ChainClient, address: string) {
  const [facts] = await mintingFacts(client, [address]);
  if (facts == null) throw new OperatorError("The node could not read the contract. Try again.");
  const earlier = (await mintingOf(database.read, new Set([address]))).get(address);
  return { facts, hasNewOwner: earlier !== undefined && earlier.owner !== facts.owner };
}

/** Switches minting on for the contract as it was found. @throws OperatorError when it is not adopted any more. */
export async function switchOn(database: Database, address: string, { minting, facts }: Mintable): Promise<void> {
  const row = { contract: address, mint_function: minting.text, ...facts, stopped: null, created_at: Date.now() };
  if (!(await database.write((trx) => switchMintingOn(trx, row))))
    throw new OperatorError(`No app has adopted ${address}.`);
}
