import { backoff } from "../domain/backoff.ts";

/** At how many later blocks a node must say the same again, when no other node answers. */
const LATER_BLOCKS = 3;
/**
 * On a chain for development, blocks come only with transactions, and nobody else has the node. There it is also enough that the
 * node says the same after this time. In milliseconds, like all times here.
 */
const LOCAL_WAIT = 1_000;
/** How long a request waits before it is looked at again. */
const WAIT = { first: 2_000, longest: 30_000 };
/** At most this many doubts of an app are counted at the same time. Further requests wait until there is room. */
const MOST_OF_APP = 1_000;
/** A doubt that nobody has looked at for this long is over: its request was sent or ended. */
const FORGOTTEN = 600_000;

/** What one node alone says about a request or a wallet. */
interface Doubt {
  said: string;
  /** The newest block at which the node said it, and the number of blocks before. */
  block: number;
  earlier: number;
  looks: number;
  since: number;
  at: number;
}

interface Doubted {
  /** Of a request, or the address of a wallet. */
  id: string;
  app_id: string;
}

/**
 * Counts at how many blocks one node has said what would fail a request. It is in memory, for all lanes of a process: after a
 * restart, it counts again.
 */
export class Doubts {
  readonly #isLocal: boolean;
  readonly #now: () => number;
  readonly #byApp = new Map<string, Map<string, Doubt>>();

  /** @param isLocal whether the chain is one for development. @param now a monotonic clock. */
  constructor(isLocal: boolean, now = () => performance.now()) {
    this.#isLocal = isLocal;
    this.#now = now;
  }

  /**
   * @param said what the node says. Something else begins a new count.
   * @returns how long the request waits, in milliseconds; null: the node has said it often enough, and it counts.
   */
  wait({ id, app_id: app }: Doubted, said: string, block: number): number | null {
    const now = this.#now();
    const ofApp = this.#ofApp(app, now);
    const known = ofApp.get(id);
    if (known?.said !== said) {
      if (known === undefined && ofApp.size >= MOST_OF_APP) return WAIT.longest;
      ofApp.set(id, { said, block, earlier: 0, looks: 1, since: now, at: now });
      return WAIT.first;
    }
    if (block > known.block) {
      known.earlier += 1;
      known.block = block;
    }
    known.at = now;
    if (known.earlier >= LATER_BLOCKS || (this.#isLocal && now - known.since >= LOCAL_WAIT)) return null;
    known.looks += 1;
    return backoff(WAIT, known.looks - 1);
  }

  /** The node no longer says it, or it has had its effect. */
  forget({ id, app_id: app }: Doubted): void {
    const ofApp = this.#byApp.get(app);
    ofApp?.delete(id);
    if (ofApp?.size === 0) this.#byApp.delete(app);
  }

  #ofApp(app: string, now: number): Map<string, Doubt> {
    const ofApp = this.#byApp.get(app) ?? new Map<string, Doubt>();
    this.#byApp.set(app, ofApp);
    if (ofApp.size < MOST_OF_APP) return ofApp;
    for (const [id, { at }] of ofApp) if (now - at > FORGOTTEN) ofApp.delete(id);
    return ofApp;
  }
}
