import { useMemo } from "preact/hooks";

import { answerOf, type Shape } from "../../client/client.ts";
import { checkArrivals } from "../../client/drop/arrivals.ts";
import { csvLine, parseCsv } from "../../client/drop/csv.ts";
import type { FolderContents, FolderToken, Owner, Problem } from "../../client/drop/folder.ts";
import { lackOfRoom, makePlan, type Plan, type Words } from "../../client/drop/plan.ts";
import { type KnownUsers, refusalOf, usersOf } from "../../client/drop/receivers.ts";
import { ERROR } from "../../client/drop/table.ts";
import { lookUpUsers } from "../../client/drop/users.ts";
import { LIMITS, readSupply } from "../../client/drop/values.ts";
import { client } from "../service/client.ts";
import { dateTime } from "../service/format.ts";
import { currentApp, mayUse } from "../service/session.ts";
import { type Loaded, useData } from "../service/use-data.ts";
import { readReceivers, walletOf } from "../write/receivers.ts";
import type { Choices } from "./choices.tsx";
import { type Chosen, contentsOf, type Files } from "./files.ts";
import { nameOf, nameOfToken, sentBefore } from "./progress.ts";

/** Everything that a run needs. */
export interface ImportPlan {
  /** Names the run in the browser's storage. */
  name: string;
  /** The app and the collection. */
  place: readonly string[];
  /** What is minted: the tokens without a problem of their own. */
  plan: Plan;
  /** Their names in the browser's storage. */
  names: readonly string[];
  /** Tokens that are not sent, because an earlier run has sent them. */
  skipped: ReadonlySet<number>;
  /** What every token needs to be minted, beside the plan. */
  files: Files;
  texts: Chosen["texts"];
  newUsers: boolean;
  wallets: ReadonlyMap<string, string>;
}

export type DryRunState =
  | { is: "checking" }
  | { is: "failed"; loaded: Loaded<unknown> }
  /** With problems that concern all tokens, or with no good token, `plan` is null and nothing can be sent. */
  | {
      is: "checked";
      plan: ImportPlan | null;
      problems: readonly Problem[];
      notes: readonly string[];
      summary: string;
      sent: number;
    };

/** The page's words for the options of the command `drop`. */
const WORDS: Words = {
  to: "in the field “To”",
  user: "To",
  supply: "in the field “Copies”",
  copyMedia: "Tick the box for it, and the service copies",
  noCopyMedia: "do not tick the box that copies media",
};

/** Checks the chosen files without sending anything. Only the users of the app are looked up. */
export function useDryRun(collection: Shape<"Collection">, choices: Choices): DryRunState {
  const { chosen, to, newUsers } = choices;
  const contents = useMemo(() => contentsOf(chosen, collection.type), [chosen, collection]);
  const { users, addresses } = useMemo(() => receiversOf(contents.tokens, receiverOf(to)), [contents, to]);
  const key = JSON.stringify([users, addresses, newUsers]);
  const looked = useData(async () => {
    const known = await lookUpUsers(users, { walletOf, search: searchUsers }, !newUsers);
    const check = (some: readonly string[]) => readReceivers(collection.address, some);
    return {
      key,
      contents,
      known,
      arrivals: await checkArrivals({ tokens: contents.tokens, to: receiverOf(to) }, check),
    };
  }, [key, contents]);
  return useMemo(() => {
    if (looked.error !== null) return { is: "failed", loaded: looked };
    if (looked.data?.key !== key || looked.data.contents !== contents) return { is: "checking" };
    return checked({ collection, choices, ...looked.data });
  }, [collection, choices, contents, looked.data, looked.error, key]);
}

/** What is asked about, each once. */
function receiversOf(tokens: readonly FolderToken[], everybody: Owner | null) {
  const owners = tokens.map(({ owner }) => owner ?? everybody);
  const addresses = owners.flatMap((owner) => (owner !== null && "address" in owner ? [owner.address] : []));
  return { users: usersOf(tokens, everybody), addresses: [...new Set(addresses)] };
}

interface Input {
  collection: Shape<"Collection">;
  choices: Choices;
  contents: FolderContents;
  known: KnownUsers;
  arrivals: Awaited<ReturnType<typeof checkArrivals>>;
}

function checked({ collection, choices, contents, known, arrivals }: Input): DryRunState {
  const { chosen, to, supply, copyMedia, newUsers, again } = choices;
  const isErc721 = collection.type === "ERC721";
  const target = { collection, to: receiverOf(to), supply: isErc721 ? null : readSupply(supply), copyMedia };
  const whole = makePlan(contents, target, known, WORDS);
  // Not once for each token: it is one field.
  const isSilent = target.to === null && whole.tokens.length > 0 && whole.tokens.every(({ owner }) => owner === null);
  const silent = { source: "To", message: "Say who gets the tokens: the files do not say it." };
  const found = [
    ...(isSilent ? [...contents.problems, silent] : whole.problems),
    ...fileProblems(whole.tokens, chosen.files),
    ...(newUsers ? [] : userProblems(whole, known)),
    ...receiverProblems(whole, "address", (address) => arrivals.refused.get(address)),
  ];
  const faulty = new Set(found.map(({ source }) => fileOf(source)));
  const plan = { ...whole, tokens: whole.tokens.filter(({ source }) => !faulty.has(source)) };
  const place = [currentApp()?.app_id ?? "", collection.address];
  const names = plan.tokens.map((token) => nameOfToken(token, plan.to, (file) => chosen.files.get(file)?.size));
  const name = nameOf([...place, copyMedia, newUsers, ...names]);
  const sent = again
    ? new Map<string, string>()
    : sentBefore(localStorage, place, { run: name, tokens: names }, new Date());
  const skipped = new Set(names.flatMap((one, index) => (sent.has(one) ? [index] : [])));
  const left = plan.tokens.length - skipped.size;
  const room = lackOfRoom(collection, left);
  const problems = [...(room === null ? [] : [{ source: "collection", message: room }]), ...found];
  const isWhole = problems.some(({ source }) => !isOfToken(source));
  return {
    is: "checked",
    plan:
      isWhole || left === 0 ? null : { name, place, plan, names, skipped, ...chosen, newUsers, wallets: known.wallets },
    problems,
    notes: [
      ...whole.notes,
      ...(arrivals.note === null ? [] : [arrivals.note]),
      ...(skipped.size === 0 ? [] : [sentNote(skipped.size, [...sent.values()])]),
    ],
    summary: `${count(whole.tokens.length)}: ${whole.receivers}.`,
    sent: skipped.size,
  };
}

export function count(tokens: number): string {
  return `${tokens.toLocaleString()} ${tokens === 1 ? "token" : "tokens"}`;
}

/** Who gets the tokens without an owner. */
function receiverOf(to: string): Owner | null {
  if (to === "") return null;
  return /^0x[0-9a-f]{40}$/i.test(to) ? { address: to } : { user: to };
}

/** A place inside of a JSON file is that of the file's token. */
function fileOf(source: string): string {
  return source.replace(/, line \d+, column \d+$/, "");
}

/** Whether a problem concerns one token, so that the others can be minted. */
function isOfToken(source: string): boolean {
  return !/^(The files|collection|To|.*\.(csv|tsv))$/i.test(source);
}

/** As the service's rule for `image`. */
const SHOWN = /^(image|video)\//;

/** What the names and sizes of files tell. The service looks at their bytes. */
function fileProblems(tokens: readonly FolderToken[], files: Files): Problem[] {
  return tokens.flatMap(({ source, files: named }) =>
    Object.entries(named).flatMap(([field, name]): Problem[] => {
      const { size = 0, type = "" } = files.get(name) ?? {};
      const most = LIMITS.mediaBytes;
      const fail = (what: string) => [{ source, message: `${field}: ${name} ${what}` }];
      if (!mayUse("media")) return fail("cannot be uploaded: your session has no scope media.");
      if (size === 0) return fail("is empty.");
      if (size > most) return fail(`has ${size.toString()} bytes. At most ${most.toString()} are allowed.`);
      if (field !== "image" || type === "" || SHOWN.test(type)) return [];
      return fail(`is not a picture or a video. Its name says that it is ${type}.`);
    }),
  );
}

/** Users without a wallet, if the person has not chosen to create wallets. */
function userProblems(plan: Plan, { wallets }: KnownUsers): Problem[] {
  return receiverProblems(plan, "user", (user) =>
    wallets.has(user) || refusalOf(user) !== null
      ? undefined
      : `No wallet of the app has the user identifier "${user}". Correct it, or tick the box that creates wallets.`,
  );
}

/** A receiver that the form names is one problem, not one for each token. */
function receiverProblems(
  { tokens, to }: Plan,
  kind: "user" | "address",
  faultOf: (receiver: string) => string | undefined,
): Problem[] {
  const fault = (owner: Owner | null) => {
    const receiver = (owner as Partial<Record<string, string>> | null)?.[kind];
    return receiver === undefined ? undefined : faultOf(receiver);
  };
  const problems = tokens.flatMap(({ source, owner }) => {
    const message = fault(owner);
    return message === undefined ? [] : [{ source, message: `owner: ${message}` }];
  });
  const general = tokens.some(({ owner }) => owner === null) ? fault(to) : undefined;
  return general === undefined ? problems : [...problems, { source: "To", message: general }];
}

function sentNote(tokens: number, times: readonly string[]): string {
  const at = dateTime(times.toSorted().at(-1) ?? "");
  return `Warning: ${count(tokens)} of these were sent by another import, on ${at}. They are left out, so that nothing is minted twice.`;
}

async function searchUsers(search: string): Promise<(string | null)[]> {
  const page = await answerOf(client().GET("/v1/accounts", { params: { query: { search } } }));
  return page.wallets.map(({ user_identifier: user }) => user);
}

/**
 * What is wrong with some tokens, as a file. If a table describes them, the file has their rows with the reasons in a column of
 * its own, which an import does not read: it can be corrected and imported.
 */
export function fileOfProblems(problems: readonly Problem[], texts: Chosen["texts"]): string {
  const reasons = new Map<string, string>();
  for (const { source, message } of problems)
    reasons.set(source, [reasons.get(source) ?? [], message].flat().join(" "));
  const [, table = ""] = /^(.*\.(?:csv|tsv)), line \d+$/i.exec([...reasons.keys()][0] ?? "") ?? [];
  const read = texts.get(table);
  if (read === undefined || !("text" in read)) return [["file", ERROR], ...reasons].map(csvLine).join("");
  const [head, ...rows] = parseCsv(read.text);
  const columns = (head?.cells ?? []).flatMap((column, index) => (column.toLowerCase() === ERROR ? [] : [index]));
  const written = (cells: readonly string[] = []) => columns.map((index) => cells[index] ?? "");
  const lines = rows.flatMap(({ line, cells }) => {
    const reason = reasons.get(`${table}, line ${line.toString()}`);
    return reason === undefined ? [] : [csvLine([...written(cells), reason])];
  });
  return csvLine([...written(head?.cells), ERROR]) + lines.join("");
}
