import type { Problem } from "../../client/drop/folder.ts";
import { Button } from "../parts/button.tsx";
import { downloadCsv } from "../parts/download.ts";
import { ErrorNote } from "../parts/error-note.tsx";
import { Loading } from "../parts/loading.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { Check, type Choices } from "./choices.tsx";
import { count, type DryRunState, fileOfProblems } from "./dry-run.ts";

/** Most problems that are shown. The file to download has all. */
const SHOWN = 100;

const COLUMNS: readonly Column<Problem>[] = [
  { head: "Where", cell: ({ source }) => <bdi>{source}</bdi> },
  { head: "Problem", cell: ({ message }) => message },
];

interface Props {
  dryRun: DryRunState;
  choices: Choices;
  onChange: (change: Partial<Choices>) => void;
}

/** What the check of the files found. */
export function DryRun({ dryRun, choices, onChange }: Props) {
  if (dryRun.is === "checking") return <Loading what="Checking the files" />;
  if (dryRun.is === "failed") return <ErrorNote error={dryRun.loaded.error} retry={dryRun.loaded.reload} />;
  const { plan, problems, notes, summary, sent } = dryRun;
  return (
    <section class="stack" aria-label="Dry run">
      {problems.length === 0 && (
        <p class="note" role="status">
          <span>Dry run: no problem found. {summary} Nothing is sent yet.</span>
        </p>
      )}
      {problems.length > 0 && <Problems dryRun={dryRun} choices={choices} />}
      {problems.length > 0 && plan !== null && <p>{summary}</p>}
      {notes.map((note) => (
        <p key={note} class={note.startsWith("Warning:") ? "note note-warning" : "muted"}>
          {note}
        </p>
      ))}
      {(sent > 0 || choices.again) && (
        <Check checked={choices.again} onChange={(again) => onChange({ again })}>
          Mint again the tokens that an earlier import has sent
        </Check>
      )}
    </section>
  );
}

/** The good tokens can be minted alone. The file of the others has none of the minted ones. */
function Problems({ dryRun, choices }: { dryRun: Extract<DryRunState, { is: "checked" }>; choices: Choices }) {
  const { plan, problems } = dryRun;
  const bad = new Set(problems.map(({ source }) => source.replace(/, line \d+, column \d+$/, ""))).size;
  const good = plan === null ? 0 : plan.plan.tokens.length - plan.skipped.size;
  const more = problems.length - SHOWN;
  return (
    <>
      <p class="note note-error" role="alert">
        <span>
          Dry run: {problems.length.toLocaleString()} {problems.length === 1 ? "problem" : "problems"} found.{" "}
          {plan === null
            ? "Nothing was sent. Correct the files, then choose them again."
            : `${good.toLocaleString()} of ${count(good + bad)} are good. Correct the files and choose them again, or mint the good tokens now.`}
        </span>
      </p>
      <Table
        caption="Problems by file"
        columns={COLUMNS}
        rows={problems.slice(0, SHOWN)}
        keyOf={({ source, message }) => `${source} ${message}`}
      />
      {more > 0 && <p class="muted">And {more.toLocaleString()} more.</p>}
      {(plan !== null || more > 0) && (
        <div class="actions">
          <Button onClick={() => downloadCsv("problems.csv", fileOfProblems(problems, choices.chosen.texts))}>
            {`Download ${problems.length === 1 ? "the problem" : `the ${problems.length.toLocaleString()} problems`} as a table`}
          </Button>
        </div>
      )}
    </>
  );
}
