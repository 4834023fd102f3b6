import { join } from "node:path";

import { ServiceProcess } from "../../scene/service.ts";
import { Instruments } from "./instruments.ts";

/** The service as a separate process, with counters inside. */
export class MeasuredService extends ServiceProcess {
  readonly instruments = new Instruments(this);

  static async open(this: void, env: Record<string, string>, log: string, roles: string): Promise<MeasuredService> {
    const settings = { PORT: "0", RATE_LIMIT_PER_MINUTE: "100000000", ...env, ROLES: roles };
    const service = new MeasuredService(settings, log, join(import.meta.dirname, "preload.ts"));
    await service.serving();
    return service;
  }
}
