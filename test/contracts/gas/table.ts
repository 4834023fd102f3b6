import { RELAYED, type Row, type Rows } from "./rows.ts";

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

type Column = readonly [title: string, figure: (row: Row, name: string) => number | undefined];

const KINDS = {
  openZeppelin: "OpenZeppelin",
  solady: "Solady",
  erc721a: "ERC721A",
  moneta: "Moneta",
  compact: "Compact",
};
type Kind = keyof typeof KINDS;

function prague(kind: Kind): Column {
  return [KINDS[kind], (row) => row[kind]];
}

function amsterdam(kind: Kind): Column {
  return [`${KINDS[kind]}, Amsterdam`, (row) => row.amsterdam[kind]];
}

const COLUMNS: readonly Column[] = [
  prague("moneta"),
  ["Goal", (_row, name) => GOALS[name]],
  ...(["compact", "openZeppelin", "solady", "erc721a"] as const).map(prague),
  ...(["moneta", "compact"] as const).map(amsterdam),
];

/** Where the other contracts get the same batches, their figures under Amsterdam rules mean something, too. */
const RELAYED_COLUMNS: readonly Column[] = [
  ...(Object.keys(KINDS) as Kind[]).map(prague),
  ...(Object.keys(KINDS) as Kind[]).map(amsterdam),
];

/** Renders the gas tables of the documentation, as Markdown. */
export function renderTables(rows: Rows): string {
  const all = Object.entries(rows);
  const relayed = all.filter(([name]) => name.startsWith(RELAYED));
  const others = all.filter(([name]) => !name.startsWith(RELAYED));
  return [
    ...lines("Gas per item", others, COLUMNS),
    "",
    "The same relay, the same batches, in front of contracts of different makes:",
    "",
    ...lines("Gas per item", relayed, RELAYED_COLUMNS),
  ].join("\n");
}

function lines(title: string, rows: readonly [string, Row][], columns: readonly Column[]): string[] {
  return [
    `| ${[title, ...columns.map(([name]) => name)].join(" | ")} |`,
    `|---|${"---:|".repeat(columns.length)}`,
    ...rows.map(([name, row]) => `| ${[name, ...columns.map(([, of]) => figure(of(row, name)))].join(" | ")} |`),
  ];
}

/** Returns the text with its gas tables replaced. */
export function replaceTables(text: string, rows: Rows): string {
  const start = text.indexOf(TABLE_START);
  const end = text.indexOf(TABLE_END);
  if (start < 0 || end < start) throw new Error("The text lacks the markers of the gas tables.");
  return `${text.slice(0, start)}${TABLE_START}\n${renderTables(rows)}\n${text.slice(end)}`;
}

function figure(gas: number | undefined): string {
  return gas === undefined ? "" : gas.toLocaleString("en-US");
}
