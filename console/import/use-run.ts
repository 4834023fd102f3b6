import { useEffect, useRef, useState } from "preact/hooks";

import { columnOf, type Item, itemsOf } from "../forms/csv/items.ts";
import { newProgress, type Progress, readProgress, saveProgress } from "../forms/csv/progress.ts";
import { rememberRows } from "../forms/csv/sent-rows.ts";
import { sendRows, type Stopped } from "../forms/csv/run.ts";
import { pause } from "../../client/pause.ts";
import { uploadFile } from "../service/client.ts";
import { randomKey } from "../../client/retries.ts";
import { sentenceOf } from "../parts/error-note.tsx";
import { sayProblem } from "../parts/toasts.tsx";
import { sendBatch } from "./send-batch.ts";
import type { Plan } from "./use-dry-run.ts";
import { useOutcomes } from "./use-outcomes.ts";

export interface Run {
  /** null: it has not begun. */
  progress: Progress | null;
  /** What is being done now; null: nothing. */
  doing: "uploading" | "minting" | null;
  /** Why it stopped before its end. */
  stopped: Stopped;
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
  const [stopped, setStopped] = useState<Stopped>(null);
  const [saved, setSaved] = useState(true);
  const latest = useRef(progress);
  const end = useRef(new AbortController());
  const follow = useOutcomes(latest, keep);

  function keep(next: Progress): void {
    latest.current = next;
    setProgress(next);
    setSaved(saveProgress(localStorage, plan.name, next));
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
      keep(latest.current ?? newProgress(randomKey(), rows, new Date()));
      setStopped(
        await sendRows(latest.current ?? newProgress(randomKey(), rows, new Date()), {
          ...toolsOf(plan, items, signal),
          keep,
        }),
      );
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

function toolsOf({ table, bad }: Plan, items: readonly Item[], signal: AbortSignal) {
  return {
    items,
    skip: bad,
    signal,
    send: sendBatch,
    wait: (milliseconds: number) => pause(milliseconds, signal),
    columnOf: (row: number, field: string) => columnOf(field, table.rows[row]),
  };
}
