import { resolve } from "node:path";

import { type Command, InvalidArgumentError } from "commander";
import { pino } from "pino";

import { LOCAL_CHAIN_ID } from "../chain/local-contracts.ts";
import { openBlocks } from "../content/store/open-blocks.ts";
import { openCopies } from "../context/content.ts";
import type { Workplace } from "../context/workplace.ts";
import { OperatorError } from "../operate/operator-error.ts";
import { rescueCollection, type RescueResult } from "../operate/rescue/rescue.ts";
import { plural } from "../shared/text.ts";
import { findCollection, findCollectionsOfApps, type StoredCollection } from "../store/listings/collections.ts";
import { mediaStoreProblem } from "../store/media/media-store.ts";
import { addressOf } from "./address.ts";
import { announced } from "./announced.ts";
import { withServiceState } from "./database.ts";
import { untilInterrupted } from "./interrupted.ts";
import { isHttpUrl, readWhole } from "./options.ts";
import { printResult, resultCommand, type Terminal } from "./terminal.ts";

interface Options {
  folder: string;
  gateway: string[];
  arweave: string;
  largest: number;
  check?: true;
  json?: boolean;
}

/** Bytes of the largest file that is kept in the folder alone, unless the option says otherwise. */
const LARGEST = 1_073_741_824;

export function collectionRescue(terminal: Terminal): Command {
  return resultCommand("rescue", "Copy the metadata and pictures of an adopted collection from where they are now.", {
    examples: ["collection rescue 0xA487a7aD5Dd6B34eD3732D495181d4FA70946C60 --folder rescued"],
    json: "{contract_address, folder, tokens, served, problems: {missing, unusable, changed, too_large}, call: {to, function, argument, data, from}}",
    notes:
      "The service then serves them under /metadata/<chain>/<address>/<token id>, and the folder has everything as files.\n" +
      "Run it again to continue after an interruption, and to try again what is missing. report.txt in the folder lists all problems.\n" +
      "At the end it prints the call by which the contract's owner makes the contract name this service.",
  })
    .argument("<address>", "the adopted contract", addressOf)
    .requiredOption("--folder <path>", "a new folder, or the one of an earlier rescue of this contract")
    .option(
      "--gateway <url>",
      "an IPFS gateway that is asked after IPFS_GATEWAY; several: give it several times",
      (url, others: string[]) => [...others, readGateway(url)],
      [],
    )
    .option("--arweave <url>", "the gateway for ar:// URIs", readGateway, "https://arweave.net")
    .option("--largest <bytes>", "copy no larger files, not even into the folder", readWhole, LARGEST)
    .option("--check", "fetch again what is copied, and list what changed at its source")
    .action((address: string, options: Options) =>
      untilInterrupted("Interrupted. Run the same command again to continue.", (stop) =>
        withServiceState(terminal, async (place) => {
          const result = await announced(place.database, () => run(terminal, place, address, options, stop));
          terminal.rewrite?.("");
          printResult(terminal, options.json, result, describe(result));
        }),
      ),
    );
}

async function run(terminal: Terminal, place: Workplace, address: string, options: Options, stop: AbortSignal) {
  await using opened = new AsyncDisposableStack();
  const { database, client, chain, settings, hostedBase } = place;
  const { mediaStore, dataDir, limits } = settings;
  const blocks = openBlocks(mediaStore, { dataDir, database, keepFree: limits.freeDiskBytes });
  const fault = (await database.write((trx) => mediaStoreProblem(trx, blocks.name))) ?? (await blocks.problem());
  if (fault !== null) throw new OperatorError(fault);
  const collection = await adoptedCollection(place, address);
  const { folder, gateway: gateways, arweave, largest, check = false } = options;
  const local = chain.chainId === LOCAL_CHAIN_ID.toString();
  const copy = await openCopies(settings, { blocks, local, gateways }, opened);
  return await rescueCollection({
    ...{ database, client, blocks, copy, limits, collection, arweave, largest, check, stop },
    logger: pino({ level: "error" }, pino.destination(2)),
    folder: resolve(folder),
    ...{ hostedBase, chainId: chain.chainId },
    progress: (done, total) => terminal.rewrite?.(`${done.toString()} of ${total.toString()} tokens`),
  });
}

/** @throws OperatorError unless the service has read the contract to its end. */
export async function adoptedCollection({ database: { read } }: Workplace, address: string): Promise<StoredCollection> {
  const row = await findCollection(read, address);
  const [collection] = row?.adopted === 1 ? await findCollectionsOfApps(read, [{ appId: row.app_id, address }]) : [];
  if (collection === undefined)
    throw new OperatorError(`No app has adopted ${address}. Adopt it first: \`collection adopt ${address}\`.`);
  const { state = "reading", asOf = 0, checkpoint = 0 } = collection.adoption ?? {};
  if (state === "followed") return collection;
  throw new OperatorError(
    `The service has not read all tokens of ${address} (${state}): block ${asOf.toString()} of ${checkpoint.toString()}. Run it again later.`,
  );
}

function describe({ contract_address: address, folder, tokens, served, problems, call }: RescueResult): string {
  const { missing, unusable, changed, too_large: large } = problems;
  return [
    `${served.toString()} of ${plural(tokens, "token")} of ${address} have their metadata here. The folder ${folder} has all files.`,
    `Documents and files: ${missing.toString()} missing, ${unusable.toString()} unusable as metadata, ${changed.toString()} changed at the source, ` +
      `${large.toString()} too large to be served. report.txt lists them.`,
    `Base URI: ${call.argument}`,
    `${call.from === null ? "Who administers the contract" : `The owner ${call.from}`} calls ${call.function} of ${call.to}, data ${call.data}`,
    "Afterwards `doctor` compares what the contract says with what is served.",
  ].join("\n");
}

function readGateway(text: string): string {
  if (!isHttpUrl(text)) throw new InvalidArgumentError("Give the http or https URL of a gateway.");
  return text.replace(/\/+$/, "");
}
