interface Waiting<In, Out> {
  item: In;
  resolve: (result: Out) => void;
  reject: (error: unknown) => void;
}

/** Most items of one group. It limits how long the first one waits. */
const MAX_GROUP = 500;

/**
 * Handles calls in groups. Calls of one event-loop tick form a group, and so do all calls that arrive while another
 * group is being handled.
 */
export class Gather<In, Out> {
  readonly #handle: (items: In[]) => Promise<Out[]>;
  #waiting: Waiting<In, Out>[] = [];
  #running = false;

  readonly #start: (drain: () => void) => void;
  readonly #concernsAll: (error: unknown) => boolean;

  /**
   * @param handle answers a group, one result for each item, in their order.
   * @param start `nextTick` gathers only calls that continue together, after another group or event.
   * @param concernsAll whether an error of `handle` says nothing about a single item. Then the whole group fails.
   */
  constructor(
    handle: (items: In[]) => Promise<Out[]>,
    start: (drain: () => void) => void = setImmediate,
    concernsAll: (error: unknown) => boolean = () => false,
  ) {
    this.#handle = handle;
    this.#start = start;
    this.#concernsAll = concernsAll;
  }

  /** @throws the error of `handle` for this item. */
  add(item: In): Promise<Out> {
    return new Promise<Out>((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      if (!this.#running) {
        this.#running = true;
        // The rest of this tick joins the group.
        this.#start(() => void this.#drain());
      }
    });
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      await this.#run(this.#waiting.splice(0, MAX_GROUP));
    }
    this.#running = false;
  }

  async #run(group: Waiting<In, Out>[]): Promise<void> {
    try {
      const results = await this.#handle(group.map(({ item }) => item));
      for (const [index, { resolve }] of group.entries()) resolve(results[index] as Out);
    } catch (error) {
      if (group.length === 1 || this.#concernsAll(error)) for (const { reject } of group) reject(error);
      // Nothing of the group was stored. One item that fails must not fail the others, so each is handled alone.
      else for (const member of group) await this.#run([member]);
    }
  }
}
