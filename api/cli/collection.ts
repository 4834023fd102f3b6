import { readFile } from "node:fs/promises";

import { type Command, InvalidArgumentError, Option } from "commander";
import { isHexString } from "ethers";
import { z } from "zod";

import { createAdoptables, type TypedText } from "../chain/adoptable.ts";
import { type AdoptDeps, adoptCollection, type Signed, textToSign, untilRead } from "../commands/adopt-collection.ts";
import { FOREIGN_CALL_GAS } from "../config/limits.ts";
import type { Workplace } from "../context/workplace.ts";
import { ApiError } from "../domain/error-codes.ts";
import { OperatorError } from "../operate/operator-error.ts";
import { fileErrorReason } from "../shared/folder.ts";
import { parseJson } from "../shared/text.ts";
import { findCollectionsOfApps, type StoredCollection } from "../store/listings/collections.ts";
import { addressOf } from "./address.ts";
import { withServiceState } from "./database.ts";
import { appNamed, readWhole } from "./options.ts";
import { printResult, resultCommand, type Terminal } from "./terminal.ts";

/** A permission of the contract's owner, or of the operator. */
export interface SignedOptions {
  text?: string;
  signature?: string;
  signer?: string;
  allow?: true;
}

interface Options extends SignedOptions {
  app: string;
  fromBlock?: number;
  wait: number;
  json?: boolean;
}

/** Seconds for which the progress is shown. */
const WAIT = 600;

export function collectionAdopt(terminal: Terminal): Command {
  const command = resultCommand("adopt", "Make a contract that another party deployed a collection of an app.", {
    examples: [
      "collection adopt 0xA487a7aD5Dd6B34eD3732D495181d4FA70946C60 --app my-shop",
      "collection adopt 0xA487a7aD5Dd6B34eD3732D495181d4FA70946C60 --app my-shop --text text.json --signature 0x5f1b",
    ],
    json: "the text to sign (EIP-712); or {address, app_id, state, as_of_block, to_block} with --signature or --allow",
    notes:
      "1. Without a signature it prints the text that the contract's owner() signs, or an account with its DEFAULT_ADMIN_ROLE, with any\n" +
      "tool that signs EIP-712: a wallet, or `cast wallet sign --data --from-file text.json`. Keep it in a file. 2. With the signature the running\n" +
      "service reads all tokens, holders and history of the contract. This command shows how far it is; Ctrl-C ends only the command.\n" +
      "--allow needs no signature: the operator answers for it that the app may list the contract as its own.",
  })
    .argument("<address>", "the contract, ERC721 or ERC1155", addressOf)
    .requiredOption("--app <app>", "name or id of the app");
  return signedOptions(command, "adopt it without a signature")
    .addOption(
      new Option("--from-block <n>", "no earlier block has events of it (default: the node is asked)").argParser(
        readWhole,
      ),
    )
    .addOption(new Option("--wait <seconds>", "how long to show the progress").default(WAIT).argParser(readWhole))
    .action((address: string, options: Options) => adopt(terminal, address, options));
}

/** Adds the options of a permission. @param allow what the operator may do without one. */
export function signedOptions(command: Command, allow: string): Command {
  return command
    .addOption(new Option("--text <file>", "the file with the text that was signed").conflicts("allow"))
    .addOption(new Option("--signature <hex>", "the signature of the text").argParser(readHex).conflicts("allow"))
    .addOption(
      new Option("--signer <address>", "who has signed, if not the owner").argParser(addressOf).conflicts("allow"),
    )
    .option("--allow", allow);
}

function adopt(terminal: Terminal, address: string, options: Options): Promise<void> {
  return withServiceState(terminal, async (place) => {
    const { database } = place;
    const deps = adoptDeps(place);
    const app = await appNamed(database.read, options.app);
    const [known] = await findCollectionsOfApps(database.read, [{ appId: app.id, address }]);
    const text = () => textToSign(deps, app.id, address);
    const signed =
      known?.adopted === 1 ? null : await permission(terminal, options, text, "Let the contract's owner sign");
    if (signed === undefined) return;
    const order = { address, fromBlock: options.fromBlock ?? null };
    const adopted = await adoptCollection(deps, app.id, order, signed).catch(sayWhy);
    const show = ([one = adopted]: readonly StoredCollection[]) => {
      const { state = "reading", asOf = 0, checkpoint = 0 } = one.adoption ?? {};
      const tokens = `${one.minted.toString()} tokens`;
      terminal.rewrite?.(`${state}: block ${asOf.toString()} of ${checkpoint.toString()}, ${tokens}`);
    };
    const [collection = adopted] = await untilRead(database.read, [{ appId: app.id, address }], options.wait, show);
    terminal.rewrite?.("");
    const { state = "reading", asOf = 0, checkpoint = 0 } = collection.adoption ?? {};
    const result = { address, app_id: app.id, state, as_of_block: asOf, to_block: checkpoint };
    const name = collection.name || address;
    const words =
      state === "followed"
        ? `${name} is a collection of ${app.name}: ${collection.minted.toString()} tokens are stored.`
        : `${name} is a collection of ${app.name}. The service reads it: block ${asOf.toString()} of ${checkpoint.toString()}.`;
    printResult(terminal, options.json, result, words);
  });
}

/**
 * What an owner has signed; null: the operator allows it; undefined: nobody does yet, and the text to sign is printed.
 * @param who shall sign, as a sentence begins.
 */
export async function permission(
  terminal: Terminal,
  options: SignedOptions & { json?: boolean },
  textOf: () => TypedText,
  who: string,
): Promise<Signed | null | undefined> {
  if (options.allow === true) return null;
  if (options.signature !== undefined) return await readSigned(options);
  const text = textOf();
  printResult(terminal, options.json, text, JSON.stringify(text, null, 2));
  terminal.remark?.(`${who} this text, and run the command again with --text and --signature, or with --allow.\n`);
  return undefined;
}

/** An operator reads the reason, not an answer of the API. @throws OperatorError */
export function sayWhy(error: unknown): never {
  throw error instanceof ApiError ? new OperatorError(error.errors?.[0]?.message ?? error.message) : error;
}

export function adoptDeps({ database, client, chain, settings }: Workplace): AdoptDeps {
  const place = { chainId: BigInt(chain.chainId), contracts: chain.contracts };
  // No signal is needed: the running service looks for work.
  const signals = { contracts: { notify: () => undefined } };
  return { database, settings, signals, adoptables: createAdoptables(client, place, FOREIGN_CALL_GAS) };
}

const textFile = z.object({
  message: z.object({ nonce: z.string().regex(/^0x[0-9a-fA-F]{64}$/), expiry: z.coerce.number().int().positive() }),
});

async function readSigned({ text, signature, signer }: SignedOptions): Promise<Signed> {
  if (text === undefined || signature === undefined)
    throw new OperatorError("Give both --text, the file with the text that was signed, and --signature.");
  const content = await readFile(text, "utf8").catch((error: unknown) => {
    const reason = fileErrorReason(error);
    throw reason === null ? error : new OperatorError(`${text} cannot be read: ${reason}.`);
  });
  const parsed = textFile.safeParse(parseJson(content));
  if (!parsed.success)
    throw new OperatorError(
      `${text} is not a text that this command has printed: it has no message with nonce and expiry.`,
    );
  const { nonce, expiry } = parsed.data.message;
  return { nonce, expiry, signature, signer: signer ?? null };
}

function readHex(text: string): string {
  if (!isHexString(text) || text.length < 4 || text.length % 2 !== 0)
    throw new InvalidArgumentError("Give bytes as 0x and hex digits.");
  return text;
}
