import type { TableProblem } from "../forms/csv/table.ts";
import { ErrorNote } from "../parts/error-note.tsx";
import { Loading } from "../parts/loading.tsx";
import { type Column, Table } from "../parts/table.tsx";
import type { DryRunState } from "./use-dry-run.ts";

/** Most problems that are shown. */
const SHOWN = 100;

const COLUMNS: readonly Column<TableProblem>[] = [
  { head: "Line", cell: ({ line }) => line ?? "–" },
  { head: "Column", cell: ({ column }) => (column === null ? "–" : <code>{column}</code>) },
  { head: "Problem", cell: ({ message }) => message },
];

/** What the check of the file found. */
export function DryRun({ dryRun }: { dryRun: DryRunState }) {
  switch (dryRun.is) {
    case "checking":
      return <Loading what="Checking the file" />;
    case "failed":
      return <ErrorNote error={dryRun.loaded.error} retry={dryRun.loaded.reload} />;
    case "ready":
      return (
        <p class="note" role="status">
          Dry run: {dryRun.plan.table.rows.length.toLocaleString()} rows, no problem found. The dry run sends nothing.
        </p>
      );
    case "wrong": {
      const { problems } = dryRun;
      const more = problems.length - SHOWN;
      return (
        <section class="stack" aria-label="Problems">
          <p class="note note-error" role="alert">
            Dry run: {problems.length.toLocaleString()} {problems.length === 1 ? "problem" : "problems"} found. Nothing
            was sent. Correct the file, then choose it again.
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
  }
}
