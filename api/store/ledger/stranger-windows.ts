import { sql } from "kysely";

import { orderedUuid } from "../../shared/ids.ts";
import type { Tables } from "../db/schema.ts";
import { rowSet, textSet, type Trx } from "../db/sql.ts";
import type { EventToStore, GapBody } from "../outbox/events.ts";
import type { MadeEvent } from "./token-events.ts";

/*
 * Against whom: anybody can move tokens of an app's collections back and forth, and each movement would be an event that is stored
 * for the app and delivered. An app gets events of so many movements by strangers in a window of blocks. Beyond that, one event
 * `gap` names the blocks, after the window. Their movements are in the history.
 */

/** Blocks of a window. */
const WINDOW = 500;

type Window = Tables["stranger_windows"];

/** The windows of the apps of some events. */
export class StrangerWindows {
  readonly #windows: Map<string, Window>;
  readonly #changed = new Set<string>();
  readonly #gaps: Window[] = [];

  private constructor(windows: readonly Window[]) {
    this.#windows = new Map(windows.map((window) => [window.app_id, window]));
  }

  /** Reads the windows of these events' apps, and those with a gap that is not told yet. */
  static async read(trx: Trx, events: readonly MadeEvent[]): Promise<StrangerWindows> {
    const apps = new Set(events.flatMap(({ event, byStrangers }) => (byStrangers ? [event.appId] : [])));
    const { rows } = await sql<Window>`
      select * from stranger_windows where gap_to is not null
      union select * from stranger_windows where app_id in ${textSet(trx, apps)}`.execute(trx);
    return new StrangerWindows(rows);
  }

  /** Counts an event. @returns false: it is one too many of movements by strangers, and is left out. */
  admit({ event: { appId }, block, byStrangers }: MadeEvent, most: number): boolean {
    if (!byStrangers) return true;
    const window = this.#windowAt(appId, block);
    this.#changed.add(appId);
    if (window.moves < most) {
      window.moves += 1;
      return true;
    }
    window.gap_from ??= block;
    window.gap_to = block;
    return false;
  }

  #windowAt(appId: string, block: number): Window {
    const before = this.#windows.get(appId);
    if (before !== undefined && block < before.from_block + WINDOW) return before;
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
    for (const window of this.#windows.values()) if (window.from_block + WINDOW - 1 <= reached) this.#end(window);
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
