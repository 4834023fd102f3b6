import { sql } from "kysely";

import { orderedUuid } from "../../shared/ids.ts";
import type { Tables } from "../db/schema.ts";
import { rowSet, textSet, type Trx } from "../db/sql.ts";
import type { EventToStore, GapBody } from "../outbox/events.ts";
import type { MadeEvent } from "./token-events.ts";

/*
 * Against whom: anybody can move tokens of an app's collections back and forth, and each movement would be an event that is stored
 * for the app and delivered. An app gets events of so many movements by strangers in a window of blocks. Beyond that, one event
 * `gap` names the blocks, after the window. Their movements are in the history. Movements whose events a restored database leaves out
 * are told in the same way, by one `gap`, however many blocks they are in.
 */

/** Blocks of a window. */
const WINDOW = 500;

type Window = Tables["stranger_windows"];

/** The windows of the apps of some events. */
export class StrangerWindows {
  readonly #windows: Map<string, Window>;
  readonly #changed = new Set<string>();
  readonly #gaps: Window[] = [];
  readonly #skipped: number;

  private constructor(windows: readonly Window[], skipped: number) {
    this.#windows = new Map(windows.map((window) => [window.app_id, window]));
    this.#skipped = skipped;
  }

  /**
   * Reads the windows of these events' apps, and those with a gap that is not told yet.
   * @param skipped the newest block without events.
   */
  static async read(trx: Trx, events: readonly MadeEvent[], skipped: number): Promise<StrangerWindows> {
    const counted = events.filter(({ block, byStrangers }) => byStrangers || block <= skipped);
    const apps = new Set(counted.map(({ event }) => event.appId));
    const { rows } = await sql<Window>`
      select * from stranger_windows where gap_to is not null
      union select * from stranger_windows where app_id in ${textSet(trx, apps)}`.execute(trx);
    return new StrangerWindows(rows, skipped);
  }

  /** Counts an event. @returns false: it is left out, because its block is skipped, or it is one too many by strangers. */
  admit({ event: { appId }, block, byStrangers }: MadeEvent, most: number): boolean {
    const isSkipped = block <= this.#skipped;
    if (!byStrangers && !isSkipped) return true;
    const window = this.#windowAt(appId, block);
    this.#changed.add(appId);
    if (!isSkipped && window.moves < most) {
      window.moves += 1;
      return true;
    }
    window.gap_from ??= block;
    window.gap_to = block;
    return false;
  }

  #windowAt(appId: string, block: number): Window {
    const before = this.#windows.get(appId);
    if (before !== undefined && (block <= this.#skipped || block < before.from_block + WINDOW)) return before;
    if (before !== undefined) this.#end(before);
    const window = { app_id: appId, from_block: block - (block % WINDOW), moves: 0, gap_from: null, gap_to: null };
    this.#windows.set(appId, window);
    return window;
  }

  #end(window: Window): void {
    if (window.gap_to === null) return;
    this.#gaps.push({ ...window });
    [window.gap_from, window.gap_to] = [null, null];
    this.#changed.add(window.app_id);
  }

  /** Stores the windows. @param reached the last block whose movements were all counted. @returns the gaps of windows that are over. */
  async close(trx: Trx, reached: number, now: number): Promise<EventToStore[]> {
    const isOver = ({ from_block: from, gap_to: to }: Window) =>
      reached >= this.#skipped && (from + WINDOW - 1 <= reached || (to ?? Infinity) <= this.#skipped);
    for (const window of this.#windows.values()) if (isOver(window)) this.#end(window);
    const changed = [...this.#windows.values()].filter(({ app_id: app }) => this.#changed.has(app));
    if (changed.length > 0) await store(trx, changed);
    return this.#gaps.map((gap) => gapOf(gap, now));
  }
}

const COLUMNS = {
  app_id: "text",
  from_block: "integer",
  moves: "integer",
  gap_from: "integer",
  gap_to: "integer",
} as const;

async function store(trx: Trx, windows: readonly Window[]): Promise<void> {
  await sql`
    insert into stranger_windows (app_id, from_block, moves, gap_from, gap_to)
    select app_id, from_block, moves, gap_from, gap_to from ${rowSet(trx, COLUMNS, windows)} as input where true
    on conflict (app_id) do update set from_block = excluded.from_block, moves = excluded.moves,
      gap_from = excluded.gap_from, gap_to = excluded.gap_to`.execute(trx);
}

function gapOf({ app_id: appId, gap_from: from, gap_to: to }: Window, now: number): EventToStore {
  const body: GapBody = {
    id: orderedUuid(),
    type: "gap",
    request_id: null,
    from_block: from ?? 0,
    to_block: to ?? 0,
    created_at: new Date(now).toISOString(),
  };
  return {
    ...{ body, appId, requestId: null, type: "gap", subject: null, collection: null },
    ...{ blockNumber: null, corrects: null },
  };
}

/**
 * Forgets what was counted above `fork`. A window that began before keeps its number: what was dropped of it counts once more, so at
 * worst a gap begins early.
 */
export async function rewindStrangers(trx: Trx, fork: number): Promise<void> {
  await sql`delete from stranger_windows where from_block > ${fork}`.execute(trx);
  await sql`update stranger_windows set gap_from = null, gap_to = null where gap_from > ${fork}`.execute(trx);
  await sql`update stranger_windows set gap_to = ${fork} where gap_to > ${fork}`.execute(trx);
}
