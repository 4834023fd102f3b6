import { existsSync } from "node:fs";
import { mkdir, open, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { ZeroAddress } from "ethers";

import { readContractUri, readTokenUris, uriCall } from "../../chain/token-uris.ts";
import { RESCUE_CALL_GAS } from "../../config/limits.ts";
import { COLLECTION_FILE, publicBase, tokenFile } from "../../domain/metadata-files.ts";
import { RESCUE_PROBLEMS, type RescueReport } from "../../domain/rescue-report.ts";
import { forEachAtOnce } from "../../shared/at-once.ts";
import { makeFolder, readDisk, unlessAbsent } from "../../shared/folder.ts";
import { leaseTimes } from "../../shared/lease.ts";
import { plural, printable } from "../../shared/text.ts";
import type { Database } from "../../store/db/database.ts";
import { counterKeys, readCounter } from "../../store/db/counters.ts";
import { pagesAfter } from "../../store/db/pages.ts";
import { WorkLease } from "../../store/db/work-lease.ts";
import { toTokenMetadata } from "../../store/listings/nfts.ts";
import {
  type RescuedMetadata,
  storeRescued,
  storeRescuedCollection,
  storeRescueReport,
  type StoredToken,
  tokensAfter,
} from "../../store/requests/rescued-tokens.ts";
import { OperatorError } from "../operator-error.ts";
import { type Document, textIn } from "./document.ts";
import { DocumentRescuer, isRelative, PART, type Problem, type RescueDeps } from "./rescue-document.ts";

/** Tokens whose URIs are in memory at the same time: each may be a picture of a megabyte. */
const PAGE = 64;
/** Tokens whose content is fetched at the same time. */
const AT_ONCE = 16;
/** Milliseconds for the calls of a page. */
const CALLS_TIME = 120_000;
const TOKEN_FIELDS = { image: "image", image_url: "image", animation_url: "animation_url" } as const;
const COLLECTION_FIELDS = { image: "image", banner_image: "image", featured_image: "image" } as const;

/** Seconds after which another process may rescue the collection, if this one was killed on another machine. */
const LEASE = 30;

/**
 * Copies the metadata and media of an adopted collection from where its contract says that they are, into the service and into a
 * folder. What both have is not fetched again, so a process that was killed goes on with the rest. The lists `tokens.ndjson`,
 * `problems.ndjson` and `report.txt` are written anew.
 * @throws OperatorError when the folder, the node, the disk, or another process that does the same stops it.
 */
export async function rescueCollection(deps: RescueDeps) {
  const { address } = deps.collection;
  const lease = new WorkLease(`rescue ${address}`, { ...deps, now: Date.now, times: leaseTimes(LEASE) });
  const result = await lease.step(deps.stop, (stop) => copyAll({ ...deps, stop }, lease.fenced));
  if (result === null)
    throw new OperatorError(`Another process rescues ${address} now. Wait until it has ended, and run this again.`);
  await lease.release();
  return result;
}

/** @param fenced for rows that a process which has taken over stores, too. Files are the same, whoever records them. */
async function copyAll(deps: RescueDeps, fenced: Database) {
  const { database, collection, folder, stop, hostedBase, chainId } = deps;
  const { address, type } = collection;
  await openFolder(deps);
  const rescuer = new DocumentRescuer(deps);
  const total = await readCounter(database.read, counterKeys.nfts(address));
  const kinds = RESCUE_PROBLEMS.map((problem) => ({ problem, count: 0, token_ids: [] }));
  const report: RescueReport = { at: 0, finished: false, tokens: 0, served: 0, problems: kinds };
  const add = await listsIn(folder);
  const own = await rescueOwn(deps, rescuer, fenced);
  noteProblems(report, own);
  await add([], own);
  const store = (finished: boolean, stored: RescuedMetadata[] = []) =>
    fenced.write(async (trx) => {
      await storeRescued(trx, address, stored);
      await storeRescueReport(trx, address, { ...report, finished, at: Date.now() });
    });
  const read = (after: number) => tokensAfter(database.read, address, after, PAGE);
  for await (const rows of pagesAfter(0, read, ({ seq }) => seq)) {
    await requireSpace(deps);
    const page = await rescuePage(deps, rescuer, rows);
    stop.throwIfAborted();
    noteProblems(report, page.problems);
    report.tokens += rows.length;
    report.served += page.served;
    await store(false, page.stored);
    await add(page.lines, page.problems);
    deps.progress(report.tokens, total);
  }
  await store(true);
  const call = {
    ...uriCall(collection, publicBase(`${hostedBase}${chainId}/`, address, type)),
    from: collection.owner === ZeroAddress ? null : collection.owner,
  };
  const { tokens, served } = report;
  const counts = report.problems.map(({ problem, count }) => [problem, count] as const);
  const problems = Object.fromEntries(counts) as Record<Problem["problem"], number>;
  const result = { contract_address: address, folder, tokens, served, problems, call };
  await writeFile(join(folder, "report.json"), `${JSON.stringify(result, null, 2)}\n`);
  return result;
}

/** Tokens of each kind that a report names. `problems.ndjson` has all. */
const NAMED = 10;

function noteProblems(report: RescueReport, problems: readonly Problem[]): void {
  for (const { problem, token_id: id } of problems) {
    const kind = report.problems[RESCUE_PROBLEMS.indexOf(problem)];
    if (kind === undefined) continue;
    kind.count += 1;
    if (kind.token_ids.length < NAMED && !kind.token_ids.includes(id)) kind.token_ids.push(id);
  }
}

export type RescueResult = Awaited<ReturnType<typeof rescueCollection>>;

/** @throws OperatorError when the folder has something else. */
async function openFolder({ folder, collection, chainId }: RescueDeps): Promise<void> {
  makeFolder(folder);
  const [mark, text] = [join(folder, "contract.txt"), `${chainId}/${collection.address}\n`];
  const found = await unlessAbsent(readFile(mark, "utf8"), null);
  // A process that was killed may have written only a part of it.
  const names = await readdir(folder);
  if (found === null ? names.length > 0 : !text.startsWith(found))
    throw new OperatorError(`The folder ${folder} has other files, or those of another contract. Name a new folder.`);
  await writeFile(mark, text);
  for (const name of names) if (name.endsWith(PART)) await rm(join(folder, name));
  for (const name of ["metadata", "media"]) await mkdir(join(folder, name), { recursive: true });
}

/** Empties the lists. @returns how to add to them. */
async function listsIn(folder: string) {
  const names = ["tokens.ndjson", "problems.ndjson", "report.txt"];
  for (const name of names) await writeFile(join(folder, name), "");
  return async (tokens: object[], problems: Problem[]) => {
    const texts = problems.map(({ token_id: id, what, problem, message, uri }) => {
      const subject = id === null ? "collection" : `token ${id}`;
      return printable(`${subject}: ${what} ${problem}: ${message} ${JSON.stringify(uri)}`);
    });
    const json = (lines: object[]) => lines.map((line) => JSON.stringify(line));
    for (const [index, lines] of [json(tokens), json(problems), texts].entries()) {
      await using list = await open(join(folder, names[index] ?? ""), "a");
      await list.appendFile(lines.map((line) => `${line}\n`).join(""));
    }
  };
}

async function rescuePage(deps: RescueDeps, rescuer: DocumentRescuer, rows: readonly StoredToken[]) {
  const { client, collection, folder, check } = deps;
  const { type } = collection;
  const nameOf = ({ token_id: id }: StoredToken) => tokenFile(type, id);
  const earlier = rows.map((row) => toTokenMetadata(row.metadata) as Document | null);
  const hasRelative = (document: Document) =>
    Object.keys(TOKEN_FIELDS).some((field) => isRelative(textIn(document, field) ?? "data:"));
  // The URI is needed for what is not copied, and for relative URIs in a document.
  const asked = rows.filter((row, index) => {
    const document = earlier[index] ?? null;
    return check || !existsSync(join(folder, "metadata", nameOf(row))) || document === null || hasRelative(document);
  });
  const ids = asked.map(({ token_id: id }) => id);
  const said = await readTokenUris(client, collection, ids, boundsOf(deps));
  // A node that is down. One that is up may fail at single contracts.
  if (said.length > 0 && said.every((answer) => answer === "unknown")) await client.headNumber();
  const saidOf = new Map(ids.map((id, index) => [id, said[index]]));
  const done: (Awaited<ReturnType<DocumentRescuer["rescue"]>> & { row: StoredToken })[] = [];
  await forEachAtOnce(rows.entries(), AT_ONCE, async ([index, row]) => {
    const name = nameOf(row);
    const of = { tokenId: row.token_id, name, id: type === "ERC1155" ? name : null, fields: TOKEN_FIELDS };
    const uri = saidOf.get(row.token_id) ?? "unknown";
    done[index] = { row, ...(await rescuer.rescue({ ...of, said: uri, earlier: earlier[index] ?? null })) };
  });
  return {
    lines: done.map(({ row, media }) => ({ token_id: row.token_id, metadata: `metadata/${nameOf(row)}`, media })),
    problems: done.flatMap(({ problems }) => problems),
    stored: done.flatMap(({ row, served }): RescuedMetadata[] =>
      served === null || served.json === row.metadata ? [] : [{ ...row, json: served.json, metadata: served.document }],
    ),
    served: done.filter(({ row, served }) => served !== null || row.metadata !== null).length,
  };
}

/** The metadata of the collection itself. Many contracts have none, so that is not a problem. */
async function rescueOwn(deps: RescueDeps, rescuer: DocumentRescuer, fenced: Database): Promise<Problem[]> {
  const { address, metadata } = deps.collection;
  const said = await readContractUri(deps.client, address, boundsOf(deps));
  if (said === "none") return [];
  const of = { tokenId: null, name: COLLECTION_FILE, id: null, earlier: { ...metadata } };
  const { served, problems } = await rescuer.rescue({ ...of, said, fields: COLLECTION_FIELDS });
  if (served !== null) await fenced.write((trx) => storeRescuedCollection(trx, address, served.json));
  return problems;
}

function boundsOf({ stop }: RescueDeps) {
  return { gas: RESCUE_CALL_GAS, abort: AbortSignal.any([stop, AbortSignal.timeout(CALLS_TIME)]) };
}

async function requireSpace({ folder, limits, stop }: RescueDeps): Promise<void> {
  stop.throwIfAborted();
  const { free } = await readDisk(folder);
  if (free < limits.freeDiskBytes)
    throw new OperatorError(
      `The disk of ${folder} has only ${plural(free, "byte")} left. Make room, and run it again.`,
    );
}
