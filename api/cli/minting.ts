import type { Command } from "commander";

import { requirePermission, textToSign } from "../commands/adopt-collection.ts";
import { FOREIGN_READ_SECONDS } from "../config/limits.ts";
import type { Workplace } from "../context/workplace.ts";
import { OperatorError } from "../operate/operator-error.ts";
import { findMintable, type Mintable } from "../operate/switch-minting.ts";
import { mintingOf, setMinting, switchMintingOff } from "../store/requests/minting.ts";
import type { StoredCollection } from "../store/listings/collections.ts";
import { addressOf } from "./address.ts";
import { announced } from "./announced.ts";
import { adoptDeps, permission, sayWhy, signedOptions, type SignedOptions } from "./collection.ts";
import { withServiceState } from "./database.ts";
import { adoptedCollection } from "./rescue.ts";
import { printResult, resultCommand, type Terminal } from "./terminal.ts";

interface Options extends SignedOptions {
  mint?: string;
  acceptUnknownRights?: true;
  off?: true;
  json?: boolean;
}

export function collectionMinting(terminal: Terminal): Command {
  const command = resultCommand("minting", "Let the service mint into an adopted contract, as it is now.", {
    examples: [
      "collection minting 0xA487a7aD5Dd6B34eD3732D495181d4FA70946C60",
      'collection minting 0xA487a7aD5Dd6B34eD3732D495181d4FA70946C60 --mint "safeMint({to:address},{token_id:uint256})"',
    ],
    json: "{contract_address, mint_function, code_hash, implementation, owner, rights_known}, or {contract_address, off: true}",
    notes:
      "First the contract's owner gives the relay the right to mint, and no other: docs/migrate.md has the calls. The command tries a\n" +
      "mint without sending it, and checks what else the relay could do there. A change of the contract's code, implementation or\n" +
      "owner, and a mint that does something else, stop minting until this command confirms the contract again. After a change of the\n" +
      "owner it prints a text for the new owner to sign: give --text and --signature, or --allow.\n" +
      "Whoever can run this command decides what the relay calls: look at the contract before you name a function with --mint.",
  })
    .argument("<address>", "the adopted contract", addressOf)
    .option(
      "--mint <function>",
      "the function that mints, with what each argument is: to, token_id, quantity, uri, data",
    )
    .option("--accept-unknown-rights", "also where nobody can check what else the relay may do there")
    .option("--off", "mint no more into the contract");
  return signedOptions(command, "switch it on for a new owner without a signature").action(
    (address: string, options: Options) =>
      withServiceState(terminal, (place) => announced(place.database, () => run(terminal, place, address, options))),
  );
}

async function run(terminal: Terminal, place: Workplace, address: string, options: Options): Promise<void> {
  const { database, client, chain } = place;
  const collection = await adoptedCollection(place, address);
  if (options.off === true) {
    const was = await database.write((trx) => switchMintingOff(trx, address));
    const words = `Minting into ${address} is off${was ? "" : ", as it was"}. Requests that were not sent fail.`;
    printResult(terminal, options.json, { contract_address: address, off: true }, words);
    return;
  }
  const found = await findMintable(
    { database, client, relay: chain.contracts.relay },
    collection,
    options.mint ?? null,
  );
  const { minting, facts, areRightsKnown } = found;
  if (!areRightsKnown && options.acceptUnknownRights !== true)
    throw new OperatorError(
      `${address} is of no known kind: nobody can check what else the relay may do there. If its owner has told you, add --accept-unknown-rights.`,
    );
  if (!(await isPermitted(terminal, place, collection, facts.owner, options))) return;
  await confirm(terminal, address, found, options);
  const row = { contract: address, mint_function: minting.text, ...facts, stopped: null, created_at: Date.now() };
  await database.write((trx) => setMinting(trx, row));
  const result = { contract_address: address, mint_function: minting.text, ...facts, rights_known: areRightsKnown };
  const words = `The service mints into ${address} by ${minting.text}. POST /v1/nfts takes it as any collection.`;
  printResult(terminal, options.json, result, words);
}

/** Whether the owner has permitted it: by adopting the contract, or now. Without a signature it prints the text to sign. */
async function isPermitted(
  terminal: Terminal,
  place: Workplace,
  { address, app_id: app }: StoredCollection,
  owner: string,
  options: Options,
): Promise<boolean> {
  const known = await mintingOf(place.database.read, new Set([address]));
  if (known.get(address)?.owner === owner) return true;
  const { adoptables } = adoptDeps(place);
  const text = () => textToSign({ adoptables }, app, address);
  const signed = await permission(terminal, options, text, `${address} has a new owner. Let ${owner} sign`);
  if (signed == null) return signed === null;
  const abort = AbortSignal.timeout(FOREIGN_READ_SECONDS * 1_000);
  await requirePermission(adoptables, { contract: address, app }, owner, signed, abort).catch(sayWhy);
  return true;
}

/** What the operator names, nobody has checked: its confirmation is typed. */
async function confirm(terminal: Terminal, address: string, { minting }: Mintable, options: Options): Promise<void> {
  if (options.mint === undefined) return;
  const question = `The relay will call ${minting.signature} of ${address} for each mint. Type the address to confirm: `;
  const answer = await terminal.ask?.(question);
  if (answer?.trim().toLowerCase() !== address.toLowerCase())
    throw new OperatorError("Nothing was changed: the address of the contract was not typed.");
}
