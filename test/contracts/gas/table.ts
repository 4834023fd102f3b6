import type { Row, Rows } from "./rows.ts";

/** The project's upper bounds for gas per item. */
export const GOALS: Record<string, number> = {
  "create ERC721, self-hosted, batch of 1": 120_000,
  "create ERC1155, self-hosted, batch of 1": 120_000,
  "create ERC721, hosted, batch of 1": 98_000,
  "create ERC1155, hosted, batch of 1": 98_000,
  "create ERC721, self-hosted, batch of 100, per item": 120_000,
  "create ERC1155, self-hosted, batch of 100, per item": 120_000,
  "create ERC721, hosted, batch of 100, per item": 98_000,
  "create ERC1155, hosted, batch of 100, per item": 98_000,
  "mint ERC721 to a new wallet of the service, batch of 100, per item": 51_000,
  "mint ERC721 to a new holder, batch of 100, per item": 53_500,
  "mint an existing ERC1155 id to a new holder, batch of 100, per item": 33_500,
  "transfer ERC721 by authorization, batch of 100, per item": 48_000,
};

/** Upper bounds for the gas of a compact collection, as a share of that of OpenZeppelin's storage. */
export const COMPACT_SHARES: Record<string, number> = {
  "mint ERC721 to a new wallet of the service, batch of 100, per item": 0.65,
  "mint ERC721 to a wallet that has one, batch of 100, per item": 0.45,
  "transfer ERC721 by authorization, batch of 100, per item": 1.05,
  "burn ERC721 directly, by its holder": 1.15,
};

const TABLE_START = "<!-- gas table: start --><!-- prettier-ignore-start -->";
const TABLE_END = "<!-- prettier-ignore-end --><!-- gas table: end -->";

/** Renders the gas table of the documentation, as Markdown. */
export function renderTable(rows: Rows): string {
  const lines = Object.entries(rows).map(([name, row]) => renderRow(name, row));
  return [
    "| Gas per item | Moneta | Goal | Compact | OpenZeppelin | ERC721A | Moneta, Amsterdam | Compact, Amsterdam |",
    "|---|---:|---:|---:|---:|---:|---:|---:|",
    ...lines,
  ].join("\n");
}

/** Returns the text with its gas table replaced. */
export function replaceTable(text: string, rows: Rows): string {
  const start = text.indexOf(TABLE_START);
  const end = text.indexOf(TABLE_END);
  if (start < 0 || end < start) throw new Error("The text lacks the markers of the gas table.");
  return `${text.slice(0, start)}${TABLE_START}\n${renderTable(rows)}\n${text.slice(end)}`;
}

function renderRow(name: string, row: Row): string {
  const cells = [
    name,
    figure(row.moneta),
    figure(GOALS[name]),
    figure(row.compact),
    figure(row.openZeppelin),
    figure(row.erc721a),
    figure(row.amsterdam),
    figure(row.compactAmsterdam),
  ];
  return `| ${cells.join(" | ")} |`;
}

function figure(gas: number | undefined): string {
  return gas === undefined ? "" : gas.toLocaleString("en-US");
}
