import { isDeepStrictEqual } from "node:util";
import type { Logger } from "pino";

import type { ChainClient } from "../chain/client.ts";
import type { ContractAddresses } from "../chain/contracts.ts";
import { describeError } from "../chain/errors.ts";
import { measureGas } from "../chain/gas-probe.ts";
import { type GasMeasurement, UNMEASURED_GAS } from "../domain/gas-estimate.ts";
import type { Keyring } from "../keys/keyring.ts";
import { Signal } from "../shared/signal.ts";
import { type StepResult, WorkLoop } from "../shared/work-loop.ts";
import type { Database } from "../store/db/database.ts";
import { readGasMeasurement, writeGasMeasurement } from "../store/requests/gas-measurement.ts";

/** How often the meter looks whether a call ran out of gas. In milliseconds, like the next one. */
const POLL = 1_000;
/** How often it measures: a hard fork and a change of prices are noticed within this time. */
const MEASURE_EVERY = 60_000;

interface GasMeterDeps {
  database: Database;
  client: ChainClient;
  contracts: ContractAddresses;
  chainId: bigint;
  keyring: Keyring;
  logger: Logger;
}

/**
 * Knows what calls cost on the connected chain. It measures at the start, every minute, and as soon as a call ran out of gas,
 * so a batch needs no measuring of its own. The last measurement is stored: without a node, a restart continues with it.
 */
export class GasMeter {
  readonly #deps: GasMeterDeps;
  readonly #loop: WorkLoop;
  #current: GasMeasurement = UNMEASURED_GAS;
  /** When it was measured last (monotonic clock). */
  #measuredAt: number | null = null;
  /** The last shortage of gas that a measurement followed. */
  #answered: string | null = null;
  #warned = false;
  #confirmed = false;

  constructor(deps: GasMeterDeps) {
    this.#deps = deps;
    this.#loop = new WorkLoop({
      logger: deps.logger,
      wake: new Signal(),
      pollInterval: POLL,
      messages: {
        failed: "the gas costs of the chain cannot be measured; the last figures stay in use",
        recovered: "the gas costs of the chain are measured again",
      },
      describe: describeError,
    });
  }

  /** Whether two nodes name the figures. Otherwise no request fails because of them. */
  get confirmed(): boolean {
    return this.#confirmed;
  }

  get current(): GasMeasurement {
    return this.#current;
  }

  get lastError(): string | null {
    return this.#loop.lastError;
  }

  /** Loads the stored figures, then measures. A node that does not answer now is asked again by `run`. */
  async open(): Promise<void> {
    const { measurement, shortage } = await readGasMeasurement(this.#deps.database.read);
    if (measurement !== null) this.#current = measurement;
    try {
      await this.#measure(shortage);
    } catch (error) {
      this.#loop.report(error);
    }
  }

  async run(abort: AbortSignal): Promise<void> {
    await this.#loop.run(() => this.#step(), abort);
  }

  async #step(): Promise<StepResult> {
    const { measurement, shortage, answered } = await readGasMeasurement(this.#deps.database.read);
    // Another process may have measured.
    if (measurement !== null && answered === shortage) {
      if (!areAlike(measurement, this.#current)) this.#confirmed = false;
      this.#use(measurement);
      this.#answered = answered;
    }
    const due = this.#measuredAt === null || performance.now() - this.#measuredAt >= MEASURE_EVERY;
    if (due || shortage !== this.#answered) await this.#measure(shortage);
    return "idle";
  }

  async #measure(shortage: string | null): Promise<void> {
    const { database, client } = this.#deps;
    const measured = await client.nodes.session(() => this.#askNodes());
    this.#measuredAt = performance.now();
    this.#answered = shortage;
    if (measured === null) return;
    this.#use(measured);
    const { measurement, answered } = await readGasMeasurement(database.read);
    if (answered === shortage && isDeepStrictEqual(measurement, measured)) return;
    await database.write((trx) => writeGasMeasurement(trx, measured, shortage));
  }

  /**
   * Figures that are new must come from two nodes, if more than one answers. @returns null when there are none: the present ones
   * stay in use.
   */
  async #askNodes(): Promise<GasMeasurement | null> {
    const { client, contracts, chainId, keyring } = this.#deps;
    const operator = keyring.lane(0).address;
    const measure = () => measureGas(client, { contracts, chainId, operator });
    const measured = await measure();
    if (measured === null) this.#warn();
    if (measured === null || (this.#confirmed && areAlike(measured, this.#current))) return measured;
    const second = await client.nodes.second(measure);
    this.#confirmed = second !== null && areAlike(measured, second);
    if (second === null || this.#confirmed) return measured;
    const named = (await client.nodes.each(measure)).filter((one) => one !== null);
    const agreed = named.find((one) => named.filter((other) => areAlike(one, other)).length > 1);
    this.#confirmed = agreed !== undefined;
    client.nodes.report("gas", { node: client.nodes.number, newSlot: measured.newSlot, others: second.newSlot });
    return agreed ?? null;
  }

  #warn(): void {
    if (this.#warned) return;
    this.#warned = true;
    this.#deps.logger.warn(
      { figures: this.#current },
      "the node supports no way to measure gas costs: the last known figures are used. Use a node that accepts state overrides in eth_call.",
    );
  }

  #use(measured: GasMeasurement): void {
    const [before, after] = [this.#current.newSlot, measured.newSlot];
    this.#current = measured;
    if (Math.abs(after - before) * 20 <= before) return;
    this.#deps.logger.warn(
      { newSlotBefore: before, newSlotNow: after, mintErc721: measured.mintErc721 },
      "the gas costs of the chain changed: batches are built for the new costs",
    );
  }
}

/** Nodes whose newest blocks differ measure nearly the same: figures may differ by a quarter, and by this much gas. */
const ALIKE = { factor: 1.25, gas: 2_000 };

/** Whether two measurements differ only as those of two honest nodes do. Fees decide no limit. */
function areAlike(a: GasMeasurement, b: GasMeasurement): boolean {
  const [figures, others] = [figuresOf(a), figuresOf(b)];
  return figures.every((one, index) => {
    const [low = 0, high = 0] = [one, others[index] ?? 0].sort((x, y) => x - y);
    return high <= low * ALIKE.factor + ALIKE.gas;
  });
}

function figuresOf(measurement: object): number[] {
  const named = (Object.entries(measurement) as [string, number | object][]).sort(([a], [b]) => (a < b ? -1 : 1));
  return named.flatMap(([name, value]) =>
    name === "itemFee" ? [] : typeof value === "number" ? [value] : figuresOf(value),
  );
}
