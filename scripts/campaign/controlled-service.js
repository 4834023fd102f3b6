import { join } from "node:path";
import { ServiceProcess } from "../scene/service.ts";
/** A process of the service whose clock and disk the campaign controls. */
export class ControlledService extends ServiceProcess {
    static async open(env, log) {
        const service = new ControlledService(env, log, join(import.meta.dirname, "preload.ts"));
        await service.serving();
        return service;
    }
    /** How the process ended, if the campaign did not end it. */
    get unexpectedEnd() {
        const { exitCode, signalCode } = this.child;
        if (exitCode !== null)
            return `exit code ${exitCode.toString()}`;
        return signalCode === null || signalCode === "SIGKILL" ? null : signalCode;
    }
    /** Waits until the command is in effect. */
    async control(command) {
        await this.ask(command);
    }
    /** Memory use in bytes after a garbage collection. */
    memory() {
        return this.ask({ measure: true });
    }
}
