import type { ComponentChildren } from "preact";

import type { Receivers } from "../../client/drop/receivers.ts";
import { rowsFile } from "../forms/csv/outcomes.ts";
import { ADDRESS, FILE, TOKEN_ID, type TableProblem, type TableRow, USER } from "../../client/drop/table.ts";
import { Button } from "../parts/button.tsx";
import { downloadCsv } from "../parts/download.ts";
import { ErrorNote } from "../parts/error-note.tsx";
import { Loading } from "../parts/loading.tsx";
import { Picture } from "../parts/picture.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { useObjectUrl } from "../write/preview-card.tsx";
import { Check, type Choices } from "./import-choices.tsx";
import type { DryRunState, Plan } from "./use-dry-run.ts";

/** Most problems that are shown, and rows in the preview. */
const [SHOWN, PREVIEWED] = [100, 5];

const COLUMNS: readonly Column<TableProblem>[] = [
  { head: "Line", cell: ({ line }) => line ?? "–" },
  { head: "Column", cell: ({ column }) => (column === null ? "–" : <code>{column}</code>) },
  { head: "Problem", cell: ({ message }) => message },
];

interface Props {
  dryRun: DryRunState;
  choices: Choices;
  onChange: (change: Partial<Choices>) => void;
}

/** What the check of the file found. */
export function DryRun({ dryRun, choices, onChange }: Props) {
  switch (dryRun.is) {
    case "checking":
      return <Loading what="Checking the file" />;
    case "failed":
      return <ErrorNote error={dryRun.loaded.error} retry={dryRun.loaded.reload} />;
    case "ready":
      return (
        <>
          {dryRun.problems.length === 0 ? (
            <p class="note" role="status">
              Dry run: {dryRun.plan.table.rows.length.toLocaleString()} rows, no problem found. The dry run sends
              nothing.
            </p>
          ) : (
            <BadRows plan={dryRun.plan} problems={dryRun.problems} />
          )}
          <WhatHappens plan={dryRun.plan} receivers={dryRun.receivers} />
          {(dryRun.repeated || choices.again) && (
            <Check checked={choices.again} onChange={(again) => onChange({ again })}>
              Mint again the rows that an earlier import has sent
            </Check>
          )}
          <Preview plan={dryRun.plan} pictures={choices.pictures} />
        </>
      );
    case "wrong":
      return <Problems problems={dryRun.problems}>Nothing was sent. Correct the file, then choose it again.</Problems>;
  }
}

/** Who gets the tokens, and what a person should know before. */
function WhatHappens({ plan: { table, options }, receivers }: { plan: Plan; receivers: Receivers }) {
  const takesIds = options.fields.some(({ name }) => name === TOKEN_ID);
  const unused = !takesIds && table.columns.includes(TOKEN_ID);
  return (
    <>
      <p>
        {table.rows.length.toLocaleString()} {table.rows.length === 1 ? "token" : "tokens"}: {receivers.summary}.
        {table.format !== null && ` This is the output of ${table.format}.`}
        {unused && " The token ids of the table are not used: the contract numbers its tokens itself."}
      </p>
      {receivers.warnings.slice(0, SHOWN).map((warning) => (
        <p key={warning} class="note note-warning">
          {warning}
        </p>
      ))}
    </>
  );
}

function Problems({ problems, children }: { problems: readonly TableProblem[]; children: ComponentChildren }) {
  const more = problems.length - SHOWN;
  return (
    <section class="stack" aria-label="Problems">
      <p class="note note-error" role="alert">
        <span>
          Dry run: {problems.length.toLocaleString()} {problems.length === 1 ? "problem" : "problems"} found. {children}
        </span>
      </p>
      <Table
        caption="Problems by row and column"
        columns={COLUMNS}
        rows={problems.slice(0, SHOWN)}
        keyOf={({ line, column, message }) => `${String(line)} ${column ?? ""} ${message}`}
      />
      {more > 0 && <p class="muted">And {more.toLocaleString()} more.</p>}
    </section>
  );
}

/** The good rows can be minted alone. The others become a file of their own, which has none of the minted ones. */
function BadRows({ plan, problems }: { plan: Plan; problems: readonly TableProblem[] }) {
  const bad = plan.bad.size;
  const good = plan.table.rows.length - bad;
  const label = `Download the ${bad.toLocaleString()} bad ${bad === 1 ? "row" : "rows"}`;
  return (
    <>
      <Problems problems={problems}>
        {good.toLocaleString()} of {plan.table.rows.length.toLocaleString()} rows are good. Correct the file and choose
        it again, or mint the good rows now. Then download the others, correct them there, and choose that file.
      </Problems>
      <div class="actions">
        <Button onClick={() => downloadCsv("bad-rows.csv", rowsFile(plan.table, plan.bad))}>{label}</Button>
      </div>
    </>
  );
}

/** The first rows that will be minted, with their pictures. */
function Preview({ plan, pictures }: { plan: Plan; pictures: readonly File[] }) {
  const rows = plan.table.rows.filter((_row, index) => !plan.bad.has(index)).slice(0, PREVIEWED);
  return (
    <section class="stack" aria-label="Preview">
      <h2>The first rows</h2>
      <Table
        caption="The first rows that will be minted"
        rows={rows}
        keyOf={({ line }) => line.toString()}
        columns={[
          { head: "Line", cell: ({ line }) => line },
          { head: "Picture", cell: (row) => <RowPicture row={row} pictures={pictures} /> },
          { head: "Name", cell: ({ cells }) => <bdi>{cells.get("name") ?? "–"}</bdi> },
          { head: "To", cell: ({ cells }) => <bdi>{cells.get(USER) ?? cells.get(ADDRESS) ?? plan.options.to}</bdi> },
        ]}
      />
    </section>
  );
}

function RowPicture({ row: { cells, line }, pictures }: { row: TableRow; pictures: readonly File[] }) {
  const file = pictures.find(({ name }) => name === cells.get(FILE)) ?? null;
  const local = useObjectUrl(file);
  const name = `Picture of line ${line.toString()}`;
  return (
    <span class="row-picture">
      {local === null ? (
        <Picture source={cells.get("image")} label={name} seed={line.toString()} />
      ) : (
        <span class="picture">
          <img src={local} alt={name} />
        </span>
      )}
    </span>
  );
}
