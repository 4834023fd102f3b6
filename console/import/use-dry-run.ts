import { useMemo } from "preact/hooks";

import { type ItemOptions, itemsOf } from "../forms/csv/items.ts";
import { nameOfRun } from "../forms/csv/progress.ts";
import { sentBefore } from "../forms/csv/sent-rows.ts";
import { answerOf, type Shape } from "../../client/client.ts";
import { checkReceivers, type KnownUsers, type Receivers } from "../../client/drop/receivers.ts";
import { ADDRESS, FILE, type Table, type TableProblem, USER } from "../../client/drop/table.ts";
import { lookUpUsers } from "../../client/drop/users.ts";
import { readTable } from "../forms/csv/table.ts";
import type { Field } from "../forms/model/fields.ts";
import { client } from "../service/client.ts";
import { walletOf } from "../write/receivers.ts";
import { dateTime } from "../service/format.ts";
import { currentApp } from "../service/session.ts";
import { type Loaded, useData } from "../service/use-data.ts";
import type { Choices } from "./import-choices.tsx";

/** Everything that a run needs. */
export interface Plan {
  /** Names the run in the browser's storage. */
  name: string;
  table: Table;
  options: ItemOptions;
  /** The pictures that rows name. */
  files: ReadonlySet<string>;
  /** Rows that are not sent, each with the reason. */
  bad: ReadonlyMap<number, string>;
  /** The app and the collection. */
  place: readonly string[];
}

export type DryRunState =
  | { is: "checking" }
  | { is: "failed"; loaded: Loaded<unknown> }
  /** Nothing can be sent. */
  | { is: "wrong"; problems: readonly TableProblem[] }
  /** @property problems of the rows that are left out */
  | { is: "ready"; plan: Plan; problems: readonly TableProblem[]; repeated: boolean; receivers: Receivers };

/** Stands for the URI of a picture that is not uploaded yet. */
const NOT_UPLOADED = "ipfs://not-uploaded";

/** Checks a file without sending anything. Only the wallets of user identifiers are looked up. */
export function useDryRun(collection: Shape<"Collection">, fields: readonly Field[], choices: Choices): DryRunState {
  const text = choices.table?.text ?? "";
  const table = useMemo(() => readTable(text, fields), [text, fields]);
  const users = useMemo(() => usersOf(table, choices), [table, choices.to]);
  const key = JSON.stringify([users, choices.newUsers]);
  const wallets = useData(
    async () => ({ key, found: await lookUpUsers(users, { walletOf, search: searchUsers }, !choices.newUsers) }),
    [key],
  );
  return useMemo(() => {
    if (wallets.error !== null) return { is: "failed", loaded: wallets };
    if (wallets.data?.key !== key) return { is: "checking" };
    return decided({ collection, fields, choices, table }, wallets.data.found);
  }, [table, fields, choices, wallets.data, wallets.error, key]);
}

interface Input {
  collection: Shape<"Collection">;
  fields: readonly Field[];
  choices: Choices;
  table: Table;
}

function decided({ collection, fields, choices, table }: Input, known: KnownUsers): DryRunState {
  const { wallets } = known;
  const { to, supply, copyMedia, newUsers, pictures, again } = choices;
  const receiver = isUser(to) ? (wallets.get(to) ?? "") : to;
  const options: ItemOptions = {
    collection: collection.address,
    fields,
    to: receiver,
    supply,
    copyMedia,
    newUsers,
    wallets,
    pictures: new Map(pictures.map(({ name }) => [name, NOT_UPLOADED])),
  };
  const unknown = unknownReceiver(to, receiver);
  const found = unknown.length > 0 ? unknown : [...table.problems, ...itemsOf(table, options).problems];
  const files = new Set(table.rows.flatMap(({ cells }) => cells.get(FILE) ?? []));
  const app = currentApp()?.app_id ?? "";
  const parts = [
    app,
    collection.address,
    choices.table?.text ?? "",
    receiver,
    supply,
    String(copyMedia),
    ...(newUsers ? ["new users"] : []),
  ];
  const name = nameOfRun(parts);
  const place = [app, collection.address];
  const sent = again ? [] : [...sentBefore(localStorage, place, { run: name, table }, new Date())].map(sentProblem);
  const problems = [...found, ...sent].sort((a, b) => (a.line ?? 0) - (b.line ?? 0));
  const bad = badRows(table, problems);
  // What is wrong in the file as a whole concerns every row.
  if (bad === null || (problems.length > 0 && bad.size === table.rows.length)) {
    return { is: "wrong", problems };
  }
  return {
    is: "ready",
    plan: { name, table, options, files, bad, place },
    problems,
    repeated: sent.length > 0,
    receivers: receiversOf(table, to, known),
  };
}

function sentProblem([line, at]: [line: number, at: string]): TableProblem {
  const message = `Sent before, on ${dateTime(at)}, when other rows of its file were wrong. It is left out, so that it is not minted twice.`;
  return { line, column: null, message };
}

/** The rows with problems; null when a problem is not that of a row. */
function badRows(table: Table, problems: readonly TableProblem[]): Map<number, string> | null {
  const places = new Map(table.rows.map(({ line }, index) => [line, index]));
  const bad = new Map<number, string>();
  for (const { line, column, message } of problems) {
    const row = line === null ? undefined : places.get(line);
    if (row === undefined) return null;
    const before = bad.get(row);
    const words = column === null ? message : `${column}: ${message}`;
    bad.set(row, before === undefined ? words : `${before} ${words}`);
  }
  return bad;
}

function unknownReceiver(to: string, receiver: string): TableProblem[] {
  if (to === "" || receiver !== "") return [];
  const message = `No wallet of the app has the user identifier "${to}". Correct the field “To”.`;
  return [{ line: null, column: null, message }];
}

function isUser(text: string): boolean {
  return text !== "" && !/^0x/i.test(text);
}

/** The users who get tokens. */
function usersOf(table: Table, { to }: Choices): string[] {
  const users = table.rows.flatMap(({ cells }) => cells.get(USER) ?? []);
  return [...new Set([...(isUser(to) ? [to] : []), ...users])].sort();
}

async function searchUsers(search: string): Promise<(string | null)[]> {
  const page = await answerOf(client().GET("/v1/accounts", { params: { query: { search } } }));
  return page.wallets.map(({ user_identifier: user }) => user);
}

/** Who gets the rows, as the check of receivers wants it. */
function receiversOf(table: Table, to: string, known: KnownUsers): Receivers {
  const rows = table.rows.map(({ line, cells }) => {
    const [address, user] = [cells.get(ADDRESS), cells.get(USER)];
    const owner = address !== undefined ? { address } : user === undefined ? null : { user };
    return { source: line.toString(), owner };
  });
  return checkReceivers(rows, to === "" ? null : isUser(to) ? { user: to } : { address: to }, known);
}
