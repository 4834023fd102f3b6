import { join } from "node:path";

import { Client } from "undici";

import { MeasuredService } from "../harness/measured-service.ts";
import type { World } from "../harness/world.ts";
import { check, type Reading, readingsOf } from "./calls.ts";
import type { Shape } from "./shape.ts";

/** The service on a database of one size. */
export class Side {
  readonly shape: Shape;
  readonly process: MeasuredService;
  readonly readings: readonly Reading[];
  readonly #client: Client;
  readonly #headers: Record<string, string>;
  readonly #choose = chooser();
  /** Milliseconds of each answer, by reading. */
  readonly times: number[][];

  private constructor(shape: Shape, process: MeasuredService, url: string, token: string) {
    this.shape = shape;
    this.process = process;
    this.readings = readingsOf(shape);
    this.times = this.readings.map(() => []);
    this.#client = new Client(url);
    this.#headers = { authorization: `Bearer ${token}` };
  }

  static async start(world: World, url: string, shape: Shape): Promise<Side> {
    const log = join(world.folder, `reading-${shape.tokens.toString()}.log`);
    const process = await MeasuredService.open({ ...world.env, DATABASE_URL: url }, log, "api");
    if (process.url === null) throw new Error("the service does not answer HTTP calls");
    return new Side(shape, process, process.url, world.token);
  }

  /** Reads once, and measures the time until the whole answer is there. */
  async read(index: number): Promise<number> {
    const reading = this.readings[index];
    if (reading === undefined) throw new Error("there is no such reading");
    const call = reading.next(this.#choose);
    const started = performance.now();
    const response = await this.#client.request({ method: "GET", path: call.path, headers: this.#headers });
    const text = await response.body.text();
    const ms = performance.now() - started;
    if (response.statusCode !== 200) throw new Error(`${call.path}: ${response.statusCode.toString()} ${text}`);
    check(call, text);
    return ms;
  }

  async stop(): Promise<void> {
    await this.#client.close();
    await this.process.stop();
  }
}

/** Numbers that look random and are the same in each run (a linear congruential generator). */
function chooser(): (least: number, most: number) => number {
  let state = 1n;
  return (least, most) => {
    state = (state * 6_364_136_223_846_793_005n + 1_442_695_040_888_963_407n) % 2n ** 64n;
    return least + (Number(state >> 33n) % (most - least + 1));
  };
}
