import { join } from "node:path";
import { Program } from "../../scene/program.ts";
import { ServiceProcess } from "../../scene/service.ts";
const PRELOAD = join(import.meta.dirname, "preload.ts");
/** Reads what `preload.ts` measures inside a process. */
export class Instruments {
    #process;
    constructor(process) {
        this.#process = process;
    }
    usage() {
        return this.#ask({ usage: true });
    }
    async startProfile() {
        await this.#ask({ startProfile: true });
    }
    /** Writes a CPU profile of the time since `startProfile`. */
    async writeProfile(file) {
        await this.#ask({ writeProfile: file });
    }
    #ask(order) {
        return this.#process.ask(order);
    }
}
/** The service as a separate process, with counters inside. */
export class MeasuredService extends ServiceProcess {
    instruments = new Instruments(this);
    static async open(env, log, roles) {
        const settings = {
            PORT: "0",
            RATE_LIMIT_PER_MINUTE: "100000000",
            PUBLIC_RATE_LIMIT_PER_MINUTE: "100000000",
            BATCH_ITEMS_PER_MINUTE: "100000000",
            ...env,
            ROLES: roles,
        };
        const service = new MeasuredService(settings, log, PRELOAD);
        await service.serving();
        return service;
    }
}
/** Another program as a separate process, with the same counters inside. */
export class MeasuredProgram extends Program {
    instruments = new Instruments(this);
    constructor(args) {
        super(["--import", PRELOAD, ...args], { channel: true });
    }
}
