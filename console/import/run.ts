import { useEffect, useRef, useState } from "preact/hooks";

import { BulkMint } from "../../client/bulk.ts";
import { advance, type BulkItem, type BulkRequest, itemsIn } from "../../client/bulk-progress.ts";
import type { Shape } from "../../client/client.ts";
import type { FolderToken } from "../../client/drop/folder.ts";
import { mintOf } from "../../client/drop/plan.ts";
import type { MediaField } from "../../client/drop/values.ts";
import { randomKey } from "../../client/rules/random-key.ts";
import { sentenceOf } from "../parts/sentence.ts";
import { sayProblem } from "../parts/toasts.tsx";
import { client, uploadFile } from "../service/client.ts";
import { useLive } from "../service/live.ts";
import type { ImportPlan } from "./dry-run.ts";
import { forgetOldRuns, newRun, type Progress, readProgress, rememberTokens, saveProgress } from "./progress.ts";

/** A call is repeated as often as other calls of the console. A person waits at most two minutes for a busy service. */
const LIMITS = { maxRetries: 2, patience: 120_000 };
/** Milliseconds in which events are gathered before the page shows them. */
const GATHER = 300;

export interface Run {
  /** null: it has not begun. */
  progress: Progress | null;
  /** What is being done now, in words; null: nothing. */
  doing: string | null;
  /** Why it stopped before its end. */
  stopped: string | null;
  /** false: the browser has no room to store the progress. */
  saved: boolean;
  /** Begins, or continues. @param failed whether tokens that failed are minted again */
  start: (failed: boolean) => void;
  stop: () => void;
  /** Asks for the results that no event has brought. */
  lookAgain: () => void;
}

/** Runs an import, stores its progress in the browser, and follows its requests to their ends. */
export function useRun(plan: ImportPlan): Run {
  const tokens = plan.plan.tokens.length;
  const stored = () => readProgress(localStorage, plan.name, tokens, new Date());
  const [progress, setProgress] = useState(stored);
  const [doing, setDoing] = useState<string | null>(null);
  const [stopped, setStopped] = useState<string | null>(null);
  const [saved, setSaved] = useState(true);
  const latest = useRef(progress);
  const end = useRef(new AbortController());
  const follow = useOutcomes(() => (latest.current === null ? null : mintOfRun(latest.current, show)));

  function show(run: Progress): void {
    latest.current = run;
    // The bulk mint changes its progress in place. The page sees only another object.
    setProgress({ ...run });
    setSaved(saveProgress(localStorage, plan.name, run));
  }
  const run = async (failed: boolean) => {
    end.current = new AbortController();
    const { signal } = end.current;
    setStopped(null);
    setDoing("Sending …");
    try {
      forgetOldRuns(localStorage, new Date());
      remember(plan);
      // Another tab may have begun it meanwhile.
      const begun = latest.current ?? stored() ?? newRun(randomKey(), tokens, new Date());
      if (failed) advance(begun.minting, { step: "again", items: itemsIn(begun.minting, "failed") });
      show(begun);
      const mint = mintOfRun(begun, show, signal);
      await mint.send(bodiesOf(plan, begun, { signal, say: setDoing }));
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
    start: (failed) => void run(failed),
    stop: () => {
      end.current.abort();
    },
    lookAgain: () => {
      follow().catch(sayProblem);
    },
  };
}

/** @param show stores and shows the progress */
function mintOfRun(run: Progress, show: (run: Progress) => void, signal = new AbortController().signal): BulkMint {
  const keep = () => {
    show(run);
  };
  return new BulkMint(client(), { ...LIMITS, progress: run.minting, keep, signal });
}

/** Sent tokens must be known in a corrected folder. @throws Error when there is no room */
function remember({ name: run, place, names, skipped }: ImportPlan): void {
  const tokens = names.filter((_name, index) => !skipped.has(index));
  if (!rememberTokens(localStorage, place, { run, tokens }, new Date()))
    throw new Error("The browser has no room to remember which tokens were sent.");
}

/**
 * Uploads the files of the tokens that are left, one by one, and makes their bodies. The same bytes are stored once, so a
 * repetition changes nothing.
 */
async function* bodiesOf(
  { plan, skipped, files, newUsers, wallets }: ImportPlan,
  { minting }: Progress,
  { signal, say }: { signal: AbortSignal; say: (doing: string) => void },
): AsyncGenerator<Shape<"Mint"> | null> {
  const uris = new Map<string, string>();
  const uploaded = async (name: string): Promise<string> => {
    const known = uris.get(name);
    const file = files.get(name);
    if (known !== undefined) return known;
    if (file === undefined) throw new Error(`The file ${name} is not among the chosen files.`);
    say(`Uploading file ${(uris.size + 1).toLocaleString()} …`);
    const uri = await uploadFile(file, { signal });
    uris.set(name, uri);
    return uri;
  };
  for (const [index, token] of plan.tokens.entries()) {
    if (skipped.has(index) || minting.items[index]?.is !== "waiting") {
      yield null;
      continue;
    }
    const media: Partial<Record<MediaField, string>> = {};
    for (const [field, name] of Object.entries(token.files) as [MediaField, string][])
      media[field] = await uploaded(name);
    say("Sending …");
    yield mintOf(token, plan, { to: receiverOf(token), media });
  }

  function receiverOf({ owner }: FolderToken) {
    const to = owner ?? plan.to ?? { user: "" };
    const address = "user" in to && !newUsers ? wallets.get(to.user) : undefined;
    return address === undefined ? to : { address };
  }
}

/**
 * Writes the ends of requests into the progress: from events as they come, and from the list of requests.
 * @param mint the bulk mint of the run; null: the run has not begun
 * @returns asks for the results that no event has brought
 */
function useOutcomes(mint: () => BulkMint | null): () => Promise<void> {
  // An event can come before the answer to the batch, so all of them are kept.
  const found = useRef<BulkRequest[]>([]);
  const timer = useRef<number | null>(null);
  const readList = async () => {
    await mint()?.settle(found.current);
    await mint()?.look();
  };
  useLive(({ type, request_id, nft_token_id }) => {
    if (type === "completed") {
      found.current.push({ request_id, status: type, nft_token_id: nft_token_id ?? null });
    } else if (type !== "error") {
      return;
    }
    if (timer.current !== null) clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      // An event has only a code. The list says why, as a sentence.
      const apply = type === "error" ? readList() : mint()?.settle(found.current);
      apply?.catch(sayProblem);
    }, GATHER);
  });
  return readList;
}

/** Why a token was not minted, as a sentence. */
export function reasonOf({ message, errors }: Extract<BulkItem, { is: "failed" }>): string {
  return [message, ...errors.map(({ field, message: problem }) => `${field}: ${problem}`)].join(" ");
}
