import { useEffect, useRef, useState } from "preact/hooks";

import { BulkMint } from "../../client/bulk.ts";
import type { Shape } from "../../client/client.ts";
import { type Item, itemsOf } from "../forms/csv/items.ts";
import { newRun, type Progress, readProgress, saveProgress } from "../forms/csv/progress.ts";
import { rememberRows } from "../forms/csv/sent-rows.ts";
import { client, uploadFile } from "../service/client.ts";
import { randomKey } from "../../client/rules/random-key.ts";
import { sentenceOf } from "../parts/sentence.ts";
import { sayProblem } from "../parts/toasts.tsx";
import type { Plan } from "./use-dry-run.ts";
import { useOutcomes } from "./use-outcomes.ts";

/** A call is repeated as often as other calls of the console. A person waits at most two minutes for a busy service. */
const LIMITS = { maxRetries: 2, patience: 120_000 };

export interface Run {
  /** null: it has not begun. */
  progress: Progress | null;
  /** What is being done now; null: nothing. */
  doing: "uploading" | "minting" | null;
  /** Why it stopped before its end. */
  stopped: string | null;
  /** false: the browser has no room to store the progress. */
  saved: boolean;
  /** Begins, or continues. */
  start: () => void;
  stop: () => void;
  /** Asks for the results that no event has brought. */
  lookAgain: () => void;
}

/** Runs an import, stores its progress in the browser, and follows its requests to their ends. */
export function useRun(plan: Plan, pictures: readonly File[]): Run {
  const rows = plan.table.rows.length;
  const [progress, setProgress] = useState(() => readProgress(localStorage, plan.name, rows, new Date()));
  const [doing, setDoing] = useState<Run["doing"]>(null);
  const [stopped, setStopped] = useState<string | null>(null);
  const [saved, setSaved] = useState(true);
  const latest = useRef(progress);
  const end = useRef(new AbortController());
  const follow = useOutcomes(() => (latest.current === null ? null : mintOf(latest.current, show)));

  function show(run: Progress): void {
    latest.current = run;
    // The bulk mint changes its progress in place. The page sees only another object.
    setProgress({ ...run });
    setSaved(saveProgress(localStorage, plan.name, { progress: run, table: plan.table.rows }));
  }
  const run = async () => {
    end.current = new AbortController();
    const { signal } = end.current;
    setStopped(null);
    try {
      rememberGoodRows(plan);
      setDoing("uploading");
      const uris = await uploadAll(plan, pictures, signal);
      const { items } = itemsOf(plan.table, { ...plan.options, pictures: uris });
      setDoing("minting");
      const begun = latest.current ?? newRun(randomKey(), rows, new Date());
      show(begun);
      for (const batch of begun.minting.open) batch.bodies = batch.items.map((row) => bodyOf(items[row]));
      await mintOf(begun, show, signal).send(items.map((item, row) => (plan.bad.has(row) ? null : bodyOf(item))));
    } catch (error) {
      setStopped(signal.aborted ? "You stopped the import." : sentenceOf(error));
    } finally {
      setDoing(null);
    }
    follow().catch(sayProblem);
  };
  useEffect(() => {
    follow().catch(sayProblem);
    return () => {
      end.current.abort();
    };
  }, []);
  return {
    progress,
    doing,
    stopped,
    saved,
    start: () => void run(),
    stop: () => {
      end.current.abort();
    },
    lookAgain: () => {
      follow().catch(sayProblem);
    },
  };
}

/** @param show stores and shows the progress */
function mintOf(run: Progress, show: (run: Progress) => void, signal = new AbortController().signal): BulkMint {
  const keep = () => {
    show(run);
  };
  return new BulkMint(client(), { ...LIMITS, progress: run.minting, keep, signal });
}

/** Rows that are sent without the others of their file must be known in a corrected file. @throws Error when there is no room */
function rememberGoodRows({ name: run, place, table, bad }: Plan): void {
  if (bad.size === 0) return;
  const rows = table.rows.flatMap((_row, index) => (bad.has(index) ? [] : [index]));
  if (!rememberRows(localStorage, place, { run, table, rows }, new Date()))
    throw new Error("The browser has no room to remember which rows were sent. Correct all rows first.");
}

/** Uploads the pictures that rows name. The same bytes are stored once, so a repetition costs nothing. */
async function uploadAll(plan: Plan, pictures: readonly File[], signal: AbortSignal): Promise<Map<string, string>> {
  const uris = new Map<string, string>();
  for (const file of pictures.filter(({ name }) => plan.files.has(name))) {
    uris.set(file.name, await uploadFile(file, { signal }));
  }
  return uris;
}

function bodyOf(item: Item = {}): Shape<"Mint"> {
  return item as unknown as Shape<"Mint">;
}
