import { existsSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { gunzip, gzipSync } from "node:zlib";

import { z } from "zod";

import { Rpc } from "../../api/chain/rpc.ts";
import { fileErrorReason } from "../../api/shared/folder.ts";
import { replaceFile } from "../../api/shared/write-new-file.ts";
import { messageOf, Problem } from "./problem.ts";

/**
 * A line with what Anvil needs beside its state, then the state as Anvil dumps it, which is JSON. Both are compressed, each with
 * a checksum at its end.
 */
export const STATE_FILE = "chain-state.json.gz";

/** Milliseconds between two polls for new blocks. */
const LOOK_EVERY = 1_000;
/** Saving may take one part of the time of this many. */
const SHARE = 20;
/** Saves that may fail because a block was mined meanwhile. */
const TRIES = 20;
/** Bytes of a dump, as text. Node cannot hold a longer one. */
const MOST_BYTES = 2 ** 29 - 64;

export function hasState(dataDir: string): boolean {
  return existsSync(join(dataDir, STATE_FILE));
}

/** A state that Anvil can load. */
export interface UnpackedState {
  /** Remove it when Anvil has started. */
  file: string;
  /** Unix time of block 0, in seconds. Anvil makes a block 0 at each start. With another time, the chain would have two. */
  began: number;
}

const block = z.object({ hash: z.string(), timestamp: z.string() });
const HEADER = /^\{"began":(\d{1,15})\}\n$/;

/** @returns null when the saved state is damaged. */
export async function unpackState(dataDir: string): Promise<UnpackedState | null> {
  const packed = await readFile(join(dataDir, STATE_FILE));
  const unpacked = await promisify(gunzip)(packed).catch((error: unknown) => {
    if (isDamage(error)) return null;
    throw error;
  });
  const end = unpacked?.indexOf("\n") ?? -1;
  const [, began] = HEADER.exec(unpacked?.toString("utf8", 0, end + 1) ?? "") ?? [];
  if (unpacked === null || began === undefined) return null;
  const file = join(dataDir, "chain-state.json");
  await rm(file, { force: true });
  try {
    await writeFile(file, unpacked.subarray(end + 1), { mode: 0o600 });
  } catch (error) {
    await rm(file, { force: true });
    throw new Problem(`Cannot write to the folder ${dataDir}: ${fileErrorReason(error) ?? messageOf(error)}.`, {
      cause: error,
    });
  }
  return { file, began: Number(began) };
}

/** A part is missing, or the checksum is wrong. */
function isDamage(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return code === "Z_DATA_ERROR" || code === "Z_BUF_ERROR";
}

/**
 * Saves the state of an Anvil: soon after each change, so that `kill -9` loses little, and at the end. The file always belongs
 * to one block.
 */
export class StateKeeper {
  readonly #rpc: Rpc;
  readonly #file: string;
  readonly #say: (text: string) => void;
  #saved: string | null = null;

  constructor(rpcUrl: string, dataDir: string, say: (text: string) => void) {
    this.#rpc = new Rpc(rpcUrl);
    this.#file = join(dataDir, STATE_FILE);
    this.#say = say;
  }

  /** Saves the state whenever blocks have come. A disk that is full is reported once, and tried again. */
  async run(abort: AbortSignal): Promise<void> {
    let [failed, pause] = [false, 0];
    const look = async () => {
      pause -= LOOK_EVERY;
      if (pause > 0 || (await this.#block("latest")).hash === this.#saved) return;
      const started = performance.now();
      if (!(await this.#trySave())) return;
      pause = (performance.now() - started) * SHARE;
      failed = false;
    };
    while (await waited(abort)) {
      await look().catch((error: unknown) => {
        const reason = fileErrorReason(error) ?? messageOf(error);
        // When the node is stopping, nothing needs to be said.
        if (!failed && !abort.aborted)
          this.#say(`The state of the local chain cannot be saved now, and it is tried again: ${reason}.`);
        failed = true;
      });
    }
  }

  /** The last save. Call it when the service has stopped: then the database knows all that it sent. */
  async finish(): Promise<void> {
    // Somebody else may still send.
    await this.#rpc.call("evm_setAutomine", [false]);
    for (let tries = 0; tries < TRIES; tries++) if (await this.#trySave()) return;
    throw new Error("it changes all the time");
  }

  /** @returns false when a block was mined meanwhile: then the blocks and the accounts of the dump may not fit together. */
  async #trySave(): Promise<boolean> {
    const { hash: before } = await this.#block("latest");
    // Without the states at older blocks, which are as large each. The service reads balances as of a newer block then.
    const dump = await this.#rpc.call("anvil_dumpState", [false], { answerBytes: MOST_BYTES });
    if ((await this.#block("latest")).hash !== before) return false;
    const { timestamp } = await this.#block("0x0");
    const line = gzipSync(`${JSON.stringify({ began: Number(timestamp) })}\n`);
    await replaceFile(this.#file, Buffer.concat([line, Buffer.from(String(dump).slice(2), "hex")]), 0o600);
    this.#saved = before;
    return true;
  }

  async #block(which: string): Promise<z.infer<typeof block>> {
    return block.parse(await this.#rpc.call("eth_getBlockByNumber", [which, false]));
  }
}

/** @returns whether to go on. */
async function waited(abort: AbortSignal): Promise<boolean> {
  try {
    await delay(LOOK_EVERY, null, { signal: abort });
    return true;
  } catch {
    return false;
  }
}
