import type { ChainClient } from "../chain/client.ts";
import { ChainUnavailable } from "../chain/errors.ts";
import { mintFunction, MINT_FUNCTIONS, type MintFunction, NoMintFunction } from "../chain/codec/mint-function.ts";
import { excessRights, type MintingFacts, mintingFacts, rightToMint, tryMint } from "../chain/minting.ts";
import { FOREIGN_READ_SECONDS } from "../config/limits.ts";
import type { Database } from "../store/db/database.ts";
import type { StoredCollection } from "../store/listings/collections.ts";
import { tokensAfter } from "../store/requests/rescued-tokens.ts";
import { OperatorError } from "./operator-error.ts";

/** Gas with which a mint is tried. */
const TRIAL_GAS = 2_000_000;
/** Tokens of the contract of which more copies are tried. */
const SOME_TOKENS = 3;

/** What was found about a contract into which the service shall mint. */
export interface Mintable {
  minting: MintFunction;
  facts: MintingFacts;
  /** Whether the rights of the relay could be checked: a known family, and the relay has the right to mint there, alone. */
  areRightsKnown: boolean;
}

/**
 * Looks at an adopted contract: by which function the relay can mint, that it can do nothing else there, and what the contract is.
 * @param wanted the function that the operator names; null: the known ones are tried.
 * @throws OperatorError when the relay cannot mint there, or could do more.
 */
export async function findMintable(
  { database, client, relay }: { database: Database; client: ChainClient; relay: string },
  { address, type }: StoredCollection,
  wanted: string | null,
): Promise<Mintable> {
  const functions = (wanted === null ? MINT_FUNCTIONS[type] : [wanted]).map(readFunction);
  const bounds = { gas: TRIAL_GAS, abort: AbortSignal.timeout(FOREIGN_READ_SECONDS * 1_000) };
  const tokens = await tokensAfter(database.read, address, 0, SOME_TOKENS);
  const subject = { contract: address, type, relay, known: tokens.map(({ token_id: id }) => id) };
  // First: what changes afterwards is not what was confirmed.
  const [facts = null] = await mintingFacts(client, [address]);
  if (facts === null) throw new ChainUnavailable("the node could not run a call of the contract");
  const excess = await excessRights(client, subject, bounds);
  if (excess.length > 0)
    throw new OperatorError(
      `The relay ${relay} could do more in ${address} than mint: ${excess.join(", ")}. Take these rights from it.`,
    );
  const tried: string[] = [];
  for (const minting of functions) {
    const right = await rightToMint(client, subject, minting, bounds);
    const reason = await tryMint(client, subject, minting, bounds);
    if (reason === null) return { minting, facts, areRightsKnown: right.isKnown };
    tried.push(`  ${minting.text}: ${reason}${right.grant === null ? "" : ` Its administrator calls ${right.grant}`}`);
  }
  throw new OperatorError([`The relay ${relay} cannot mint into ${address}. Tried:`, ...tried, NO_WAY].join("\n"));
}

const NO_WAY =
  "Let the contract's owner give the relay the right to mint (docs/migrate.md), or name the function with --mint. Where only the " +
  "owner can mint, the service cannot.";

/** @throws OperatorError */
function readFunction(text: string): MintFunction {
  try {
    return mintFunction(text);
  } catch (error) {
    throw error instanceof NoMintFunction ? new OperatorError(error.message) : error;
  }
}
