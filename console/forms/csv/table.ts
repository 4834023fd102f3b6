import {
  ADDRESS,
  FILE,
  OWNER,
  readTable as readAnyTable,
  SUPPLY,
  type Table,
  type TableRow,
  TOKEN_ID,
  USER,
} from "../../../client/drop/table.ts";
import type { Field } from "../model/fields.ts";

/** Names of the columns that a collection takes. @param fields of a mint into the collection. */
export function columnsOf(fields: readonly Field[]): string[] {
  const names = new Set(fields.map(({ name }) => name));
  const plain = fields.filter(({ kind }) => ["text", "long-text", "uri"].includes(kind)).map(({ name }) => name);
  return [
    ...(names.has("image") ? [FILE] : []),
    TOKEN_ID,
    ...(names.has("token_id") ? [SUPPLY] : []),
    ADDRESS,
    USER,
    ...plain,
  ];
}

/** Reads a table as `npm run cli -- drop` does. Its column `owner` is one of the form's two columns, for each row. */
export function readTable(text: string, fields: readonly Field[]): Table {
  const attributes = fields.some(({ kind }) => kind === "attributes");
  const table = readAnyTable(text, [...columnsOf(fields), OWNER], attributes);
  if (!table.columns.includes(OWNER)) return table;
  const columns = table.columns.flatMap((column) => (column === OWNER ? [ADDRESS, USER] : [column]));
  return { ...table, columns: [...new Set(columns)], rows: table.rows.map(withReceiver) };
}

function withReceiver(row: TableRow): TableRow {
  const owner = row.cells.get(OWNER);
  if (owner === undefined) return row;
  const column = /^0x[0-9a-f]{40}$/i.test(owner.trim()) ? ADDRESS : USER;
  const others = [...row.cells].filter(([name]) => name !== OWNER);
  return { ...row, cells: new Map([...others, [column, column === ADDRESS ? owner.trim() : owner]]) };
}
