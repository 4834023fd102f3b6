import { refusalOf } from "../../../client/drop/receivers.ts";
import { bodyOf } from "../model/body.ts";
import { problemsOf, REQUIRED } from "../model/check.ts";
import type { Field } from "../model/fields.ts";
import { type AttributeRow, initialValues, type Values } from "../model/values.ts";
import {
  ADDRESS,
  ATTRIBUTE,
  FILE,
  SUPPLY,
  TOKEN_ID,
  type Table,
  type TableProblem,
  type TableRow,
  USER,
} from "../../../client/drop/table.ts";

export interface ItemOptions {
  collection: string;
  /** The fields of a mint into the collection. */
  fields: readonly Field[];
  /** Who gets the tokens of rows that do not say it; empty: every row must say it. */
  to: string;
  /** ERC1155: copies of each token whose row does not say another number. */
  supply: string;
  copyMedia: boolean;
  /** Whether users of the table may be new: the service creates their wallets with the tokens. */
  newUsers: boolean;
  /** Wallets by user identifier. */
  wallets: ReadonlyMap<string, string>;
  /** URIs of the uploaded pictures, by the name of the file. */
  pictures: ReadonlyMap<string, string>;
}

export type Item = Record<string, unknown>;

interface Items {
  /** One for each row. */
  items: Item[];
  problems: TableProblem[];
}

/** Fields of a mint whose column has another name. */
const COLUMNS: Readonly<Record<string, string>> = { initial_supply: SUPPLY, initial_owner: ADDRESS };

/** The bodies of the mints of a table, and what is wrong with them. */
export function itemsOf(table: Table, options: ItemOptions): Items {
  const problems: TableProblem[] = [];
  const items = table.rows.map((row) => {
    const values = valuesOf(row, options);
    const found = [...sourceProblems(row, options), ...fieldProblems(row, values, options)];
    problems.push(...found);
    const user = options.newUsers ? row.cells.get(USER) : undefined;
    // Also for a user with a wallet, so that a run that is continued sends the same bodies.
    const receiver = user === undefined ? {} : { to_user: user };
    return found.length > 0
      ? {}
      : { collection_address: options.collection, ...receiver, ...bodyOf(options.fields, values) };
  });
  if (options.fields.some(({ name }) => name === TOKEN_ID)) problems.push(...repeatedIds(table.rows));
  return { items, problems: problems.sort((a, b) => (a.line ?? 0) - (b.line ?? 0)) };
}

/** The column that shows an error of a field of the API. */
export function columnOf(field: string, row: TableRow | undefined): string {
  const [, index] = /^attributes\.(\d+)(?:\.|$)/.exec(field) ?? [];
  const attributes = [...(row?.cells.keys() ?? [])].filter((column) => column.startsWith(ATTRIBUTE));
  if (index !== undefined) return attributes[Number(index)] ?? field;
  if (field === "image" && row?.cells.has(FILE) === true) return FILE;
  if (field === "to_user") return USER;
  const column = COLUMNS[field] ?? field;
  return column === ADDRESS && row?.cells.has(USER) === true ? USER : column;
}

function valuesOf(
  { cells }: TableRow,
  { fields, to, supply, copyMedia, wallets, pictures, newUsers }: ItemOptions,
): Values {
  const file = cells.get(FILE);
  const user = cells.get(USER);
  const known = newUsers ? undefined : wallets.get(user ?? "");
  const owner = cells.get(ADDRESS) ?? (user === undefined ? to : known);
  const image = file === undefined ? cells.get("image") : pictures.get(file);
  const attributes = [...cells]
    .filter(([column]) => column.startsWith(ATTRIBUTE))
    .map(([column, value]): AttributeRow => ({ trait: column.slice(ATTRIBUTE.length), value, before: null }));
  const plain = fields.map(({ name }) => [name, cells.get(name)] as const).filter(([, cell]) => cell !== undefined);
  const isMedia = image !== undefined || cells.has("animation_url");
  return {
    ...initialValues(fields),
    ...(Object.fromEntries(plain) as Values),
    image: image ?? "",
    attributes,
    to_address: owner ?? "",
    initial_owner: owner ?? "",
    initial_supply: cells.get(SUPPLY) ?? supply,
    token_id: tokenIdOf(cells) ?? "",
    copy_media: copyMedia && isMedia,
  };
}

/** Without a column for it, the name of the picture is the token id: `7.png`. */
function tokenIdOf(cells: TableRow["cells"]): string | undefined {
  return cells.get(TOKEN_ID) ?? /^(\d+)(?:\.[^.]*)?$/.exec(cells.get(FILE) ?? "")?.[1];
}

/** Who gets the token, and where its picture comes from. */
function sourceProblems({ line, cells }: TableRow, { to, wallets, pictures, newUsers }: ItemOptions): TableProblem[] {
  const problems: TableProblem[] = [];
  const fail = (column: string, message: string) => problems.push({ line, column, message });
  const user = cells.get(USER);
  const file = cells.get(FILE);
  if (user !== undefined && cells.has(ADDRESS)) fail(USER, `Fill in ${ADDRESS} or ${USER}, not both.`);
  else if (user !== undefined && !newUsers && !wallets.has(user)) {
    fail(USER, `No wallet of the app has the user identifier "${user}". Create the wallet first, or correct the cell.`);
  } else if (user !== undefined && !wallets.has(user)) {
    const refusal = refusalOf(user);
    if (refusal !== null) fail(USER, refusal);
  } else if (user === undefined && !cells.has(ADDRESS) && to === "") {
    fail(ADDRESS, `Say who gets the token: here, in ${USER}, or for all rows in the form.`);
  }
  if (file !== undefined && cells.has("image")) fail(FILE, `Fill in ${FILE} or image, not both.`);
  else if (file !== undefined && !pictures.has(file)) {
    fail(FILE, `The picture "${file}" is not among the chosen files. Choose it in the form.`);
  }
  return problems;
}

function fieldProblems(row: TableRow, values: Values, { fields }: ItemOptions): TableProblem[] {
  const shown = problemsOf(fields, values).map(({ field, message }) => ({
    line: row.line,
    column: columnOf(field, row),
    message,
  }));
  // `sourceProblems` says more of these.
  return shown.filter(({ column, message }) => !([ADDRESS, USER].includes(column) && message === REQUIRED));
}

/** A table creates each ERC1155 id once. */
function repeatedIds(rows: readonly TableRow[]): TableProblem[] {
  const first = new Map<string, number>();
  return rows.flatMap(({ line, cells }) => {
    const id = tokenIdOf(cells)?.replace(/^0+(?=\d)/, "");
    const before = id === undefined ? undefined : first.get(id);
    if (id !== undefined && before === undefined) first.set(id, line);
    if (id === undefined || before === undefined) return [];
    return [{ line, column: TOKEN_ID, message: `Line ${before.toString()} has the token id ${id}, too.` }];
  });
}
