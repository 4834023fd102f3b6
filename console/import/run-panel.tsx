import { useState } from "preact/hooks";

import { type BulkItem, itemsIn } from "../../client/bulk-progress.ts";
import type { FolderToken } from "../../client/drop/folder.ts";
import { plannedTokens } from "../../client/drop/plan.ts";
import { Button } from "../parts/button.tsx";
import { CopyAs } from "../parts/copy-as.tsx";
import { downloadCsv } from "../parts/download.ts";
import { Picture } from "../parts/picture.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { lastWrite } from "../service/recorded-calls.ts";
import { href } from "../shell/href.ts";
import { useObjectUrl } from "../write/preview-card.tsx";
import { Warnings } from "../write/taken.tsx";
import { count, fileOfProblems, type ImportPlan } from "./dry-run.ts";
import type { Files } from "./files.ts";
import type { Progress } from "./progress.ts";
import { reasonOf, type Run, useRun } from "./run.ts";

/** Tokens that are shown, with their pictures. */
const SHOWN = 10;

/** Shows what becomes of each file, begins the import, and shows how far it is. */
export function RunPanel({ plan }: { plan: ImportPlan }) {
  const run = useRun(plan);
  const { progress, doing, stopped } = run;
  const tokens = plan.plan.tokens.length - plan.skipped.size;
  const left = progress === null ? tokens : unsent(plan, progress);
  const failed = progress === null ? 0 : itemsIn(progress.minting, "failed").length;
  const begun = progress !== null;
  return (
    <section class="card stack" aria-label="Import">
      {begun && doing === null && left > 0 && (
        <p class="note note-warning" role="status">
          {stopped ?? `This import was begun on ${new Date(progress.startedAt).toLocaleString()}.`}{" "}
          {left.toLocaleString()} of {count(tokens)} are left. Continue: no token is minted twice.
        </p>
      )}
      {!begun && stopped !== null && (
        <p class="note note-error" role="alert">
          {stopped}
        </p>
      )}
      <div class="actions">
        {left > 0 && (
          <Button kind="primary" busy={doing !== null} onClick={() => run.start(false)}>
            {doing ?? (begun ? "Continue" : `Mint ${count(tokens)}`)}
          </Button>
        )}
        {doing !== null && <Button onClick={run.stop}>Stop</Button>}
        {doing === null && failed > 0 && (
          <Button onClick={() => run.start(true)}>{`Try the ${failed.toLocaleString()} failed again`}</Button>
        )}
      </div>
      {progress !== null && <Results plan={plan} run={run} progress={progress} />}
      <Tokens plan={plan} progress={progress} />
      {begun && <CopyAs call={lastWrite.value} />}
    </section>
  );
}

/** Tokens of the run that are left to send. */
function unsent({ skipped }: ImportPlan, { minting }: Progress): number {
  return itemsIn(minting, "sent").length + itemsIn(minting, "waiting").filter((index) => !skipped.has(index)).length;
}

function Results({ plan, run, progress }: { plan: ImportPlan; run: Run; progress: Progress }) {
  const { items } = progress.minting;
  const number = (...states: BulkItem["is"][]) => itemsIn(progress.minting, ...states).length;
  const [completed, failed, accepted] = [number("completed"), number("failed", "unknown"), number("accepted")];
  const done = completed + failed;
  const left = unsent(plan, progress);
  const all = done + accepted + left;
  const problems = () =>
    items.flatMap((item, index) =>
      item.is === "failed" ? [{ source: plan.plan.tokens[index]?.source ?? "", message: reasonOf(item) }] : [],
    );
  return (
    <>
      <progress max={all} value={done} aria-label="Tokens that are finished" />
      <p role="status" data-finished={done === all}>
        {completed.toLocaleString()} minted, {failed.toLocaleString()} failed, {accepted.toLocaleString()} on their way,{" "}
        {left.toLocaleString()} left.
      </p>
      <Warnings of={progress.minting.warnings} place={({ items: own }) => filesOf(plan, own)} />
      {!run.saved && (
        <p class="note note-warning">The browser has no room to store the progress. Do not close this page.</p>
      )}
      <div class="actions">
        {failed > 0 && (
          <Button onClick={() => downloadCsv("failed.csv", fileOfProblems(problems(), plan.texts))}>
            Download the failed tokens as a table
          </Button>
        )}
        {accepted > 0 && run.doing === null && <Button onClick={run.lookAgain}>Look again</Button>}
      </div>
    </>
  );
}

/** Files that a warning names. */
const NAMED = 3;

function filesOf({ plan }: ImportPlan, indexes: readonly number[]): string {
  const names = indexes.slice(0, NAMED).map((index) => plan.tokens[index]?.source ?? "");
  const more = indexes.length > NAMED ? ` and ${(indexes.length - NAMED).toLocaleString()} more` : "";
  return `${names.join("; ")}${more}.`;
}

interface Row {
  index: number;
  token: FolderToken | undefined;
  source: string;
  token_id: string;
  receiver: string;
}

/** What becomes of each file: the first tokens, and all on demand. Tokens that failed come first: they are why someone looks. */
function Tokens({ plan, progress }: { plan: ImportPlan; progress: Progress | null }) {
  const [all, setAll] = useState(false);
  const { files, skipped } = plan;
  const items = progress?.minting.items;
  const indexes = plan.plan.tokens.flatMap((_token, index) => (skipped.has(index) ? [] : [index]));
  const tokens = indexes.flatMap((index) => plan.plan.tokens[index] ?? []);
  const begun = items && indexes.map((index): BulkItem => items[index] ?? { is: "waiting" });
  const rows = plannedTokens({ ...plan.plan, tokens }, begun).map((planned, place): Row => {
    return { ...planned, index: indexes[place] ?? place, token: tokens[place] };
  });
  const isFailed = ({ index }: Row) => items?.[index]?.is === "failed";
  const sorted = [...rows.filter(isFailed), ...rows.filter((row) => !isFailed(row))];
  const shown = all ? sorted : sorted.slice(0, SHOWN);
  const columns: Column<Row>[] = [
    ...(all
      ? []
      : [{ head: "Picture", cell: ({ token, source }: Row) => <TokenPicture {...{ token, source, files }} /> }]),
    { head: "File", cell: ({ source }) => <bdi>{source}</bdi> },
    { head: "Name", cell: ({ token }) => <bdi>{token?.metadata.name ?? "–"}</bdi> },
    { head: "Token id", cell: ({ token_id: id }) => id },
    { head: "To", cell: ({ receiver }) => <bdi>{receiver}</bdi> },
    ...(items === undefined ? [] : [{ head: "Result", cell: ({ index }: Row) => resultOf(plan, items[index]) }]),
  ];
  return (
    <>
      <h2>{items === undefined ? "What each file becomes" : "What became of each file"}</h2>
      <Table caption="Token and receiver of each file" rows={shown} keyOf={({ source }) => source} columns={columns} />
      {sorted.length > SHOWN && (
        <div class="actions">
          <Button aria-expanded={all} onClick={() => setAll(!all)}>
            {all ? "Show the first ones only" : `Show all ${count(sorted.length)}`}
          </Button>
        </div>
      )}
    </>
  );
}

function TokenPicture({ token, source, files }: { token: FolderToken | undefined; source: string; files: Files }) {
  const local = useObjectUrl(files.get(token?.files.image ?? "") ?? null);
  const name = `Picture of ${source}`;
  return (
    <span class="row-picture">
      {local === null ? (
        <Picture source={token?.metadata.image} label={name} seed={source} />
      ) : (
        <span class="picture">
          <img src={local} alt={name} />
        </span>
      )}
    </span>
  );
}

function resultOf({ plan: { collection } }: ImportPlan, item: BulkItem | undefined) {
  switch (item?.is) {
    case "completed":
      if (item.tokenId === null) return "Minted";
      return (
        <a href={href("/collections/:address/:token_id", { address: collection.address, token_id: item.tokenId })}>
          Token {item.tokenId}
        </a>
      );
    case "accepted":
      return <a href={href("/requests/:request_id", { request_id: item.requestId })}>On its way</a>;
    case "failed":
      return reasonOf(item);
    case "unknown":
      return "The service does not know this request any more. Look whether the collection has the token.";
    case "sent":
      return "Sent, the answer is not known yet";
    default:
      return "Waiting";
  }
}
