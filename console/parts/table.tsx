import type { ComponentChildren } from "preact";

export interface Column<Row> {
  head: string;
  cell: (row: Row) => ComponentChildren;
  /** Numbers are easier to compare at the right edge. */
  right?: boolean;
}

interface Props<Row> {
  /** What the table lists, for screen readers. */
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
}

/** On a narrow page each row becomes a block with the heads beside its cells, so nothing scrolls sideways. */
export function Table<Row>({ caption, columns, rows, keyOf }: Props<Row>) {
  return (
    <table>
      <caption class="hidden">{caption}</caption>
      <thead>
        <tr>
          {columns.map(({ head, right }) => (
            <th scope="col" key={head} class={right === true ? "right" : undefined}>
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)}>
            {columns.map(({ head, cell, right }) => (
              <td key={head} data-head={head} class={right === true ? "right" : undefined}>
                <div>{cell(row)}</div>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
