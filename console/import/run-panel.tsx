import { type BulkItem, itemsIn } from "../../client/bulk-progress.ts";
import { failedRowsFile, messageOf } from "../forms/csv/outcomes.ts";
import type { Progress } from "../forms/csv/progress.ts";
import { Button } from "../parts/button.tsx";
import { downloadCsv } from "../parts/download.ts";
import { CopyAs } from "../parts/copy-as.tsx";
import { Table } from "../parts/table.tsx";
import { lastWrite } from "../service/recorded-calls.ts";
import { href } from "../shell/href.ts";
import { Warnings } from "../write/taken.tsx";
import { type Run, useRun } from "./use-run.ts";
import type { Plan } from "./use-dry-run.ts";

/** Most rows that are shown. */
const SHOWN = 100;

/** Begins the import, and shows how far it is. */
export function RunPanel({ plan, pictures }: { plan: Plan; pictures: readonly File[] }) {
  const run = useRun(plan, pictures);
  const { progress, doing, stopped } = run;
  const rows = plan.table.rows.length - plan.bad.size;
  const left = progress === null ? rows : unsent(plan, progress);
  const begun = progress !== null;
  return (
    <section class="card stack" aria-label="Import">
      {begun && doing === null && left > 0 && (
        <p class="note note-warning" role="status">
          {stopped ?? `This file was begun on ${new Date(progress.startedAt).toLocaleString()}.`}{" "}
          {left.toLocaleString()} of {rows.toLocaleString()} rows are left. Continue: no row is minted twice.
        </p>
      )}
      {!begun && stopped !== null && (
        <p class="note note-error" role="alert">
          {stopped}
        </p>
      )}
      {left > 0 && (
        <div class="actions">
          <Button kind="primary" busy={doing !== null} onClick={run.start}>
            {labelOf(doing, begun, plan)}
          </Button>
          {doing !== null && <Button onClick={run.stop}>Stop</Button>}
        </div>
      )}
      {progress !== null && <Results plan={plan} run={run} progress={progress} />}
    </section>
  );
}

/** Rows of the run that are left to send. */
function unsent({ bad }: Plan, progress: Progress): number {
  return (
    itemsIn(progress.minting, "sent").length +
    itemsIn(progress.minting, "waiting").filter((row) => !bad.has(row)).length
  );
}

function labelOf(doing: Run["doing"], begun: boolean, { table, bad }: Plan): string {
  const rows = table.rows.length - bad.size;
  if (doing === "uploading") return "Uploading the pictures …";
  if (doing === "minting") return "Sending …";
  if (!begun && bad.size > 0) return `Mint the ${rows.toLocaleString()} good ${rows === 1 ? "row" : "rows"}`;
  return begun ? "Continue" : `Mint ${rows.toLocaleString()} ${rows === 1 ? "token" : "tokens"}`;
}

interface ResultsProps {
  plan: Plan;
  run: Run;
  progress: Progress;
}

function Results({ plan, run, progress }: ResultsProps) {
  const count = (...states: BulkItem["is"][]) => itemsIn(progress.minting, ...states).length;
  const [completed, failed, accepted] = [count("completed"), count("failed"), count("accepted")];
  const done = completed + failed;
  const left = unsent(plan, progress);
  const rows = done + accepted + left;
  const words = `${completed.toLocaleString()} minted, ${failed.toLocaleString()} failed, ${accepted.toLocaleString()} on their way, ${left.toLocaleString()} left`;
  return (
    <>
      <progress max={rows} value={done} aria-label="Rows that are finished" />
      <p role="status" data-finished={done === rows}>
        {words}.
      </p>
      {!run.saved && (
        <p class="note note-warning">The browser has no room to store the progress. Do not close this page.</p>
      )}
      <div class="actions">
        {failed > 0 && (
          <Button
            onClick={() => {
              downloadCsv("failed-rows.csv", failedRowsFile(plan.table, progress));
            }}
          >
            Download the failed rows
          </Button>
        )}
        {accepted > 0 && run.doing === null && <Button onClick={run.lookAgain}>Look again</Button>}
      </div>
      <Warnings of={progress.minting.warnings} place={({ items }) => linesOf(plan, items)} />
      <RowTable plan={plan} progress={progress} />
      <CopyAs call={lastWrite.value} />
    </>
  );
}

/** Lines that a warning names. */
const NAMED = 10;

function linesOf({ table }: Plan, rows: readonly number[]): string {
  const lines = rows.slice(0, NAMED).map((row) => table.rows[row]?.line ?? "");
  const more = rows.length > NAMED ? ` and ${(rows.length - NAMED).toLocaleString()} more` : "";
  return `${rows.length === 1 ? "Line" : "Lines"} ${lines.join(", ")}${more}.`;
}

function RowTable({ plan, progress }: { plan: Plan; progress: Progress }) {
  // The rows with problems come first: they are why someone looks.
  const failed = itemsIn(progress.minting, "failed");
  const shown = [...failed, ...itemsIn(progress.minting, "completed", "accepted", "sent", "waiting")].slice(0, SHOWN);
  const more = progress.minting.items.length - shown.length;
  return (
    <>
      <Table
        caption="Results by row"
        rows={shown}
        keyOf={String}
        columns={[
          { head: "Line", cell: (row) => plan.table.rows[row]?.line ?? "" },
          { head: "Name", cell: (row) => <bdi>{plan.table.rows[row]?.cells.get("name") ?? "–"}</bdi> },
          {
            head: "Result",
            cell: (row) => resultOf(plan, row, progress.minting.items[row]),
          },
        ]}
      />
      {more > 0 && <p class="muted">And {more.toLocaleString()} more rows.</p>}
    </>
  );
}

function resultOf({ table, options: { collection: address }, bad }: Plan, row: number, state: BulkItem | undefined) {
  switch (state?.is) {
    case "completed":
      if (state.tokenId === null) return "Minted";
      return (
        <a href={href("/collections/:address/:token_id", { address, token_id: state.tokenId })}>
          Token {state.tokenId}
        </a>
      );
    case "accepted":
      return <a href={href("/requests/:request_id", { request_id: state.requestId })}>On its way</a>;
    case "failed":
      return messageOf(state, table.rows[row]);
    case "sent":
      return "Sent, the answer is not known yet";
    default:
      return bad.has(row) ? "Left out" : "Waiting";
  }
}
