import { Program, ROOT } from "./program.ts";
/** Milliseconds after which a service that was told to stop is killed. */
const STOP_DEADLINE = 30_000;
/** The service in a process of its own. */
export class ServiceProcess extends Program {
    #mayCrash;
    #url = null;
    /**
     * @param preload a file that its process loads first, and that answers messages: see `obey`.
     * @param checkout folder of the project whose service starts.
     */
    constructor(env, log, preload, checkout = ROOT) {
        const options = { env: { PATH: process.env["PATH"], ...env }, log, cwd: checkout };
        const first = preload === undefined ? [] : ["--import", preload];
        super([...first, "api/main.ts"], { ...options, channel: preload !== undefined });
        this.#mayCrash = env["CRASH_POINT"] !== undefined;
    }
    /**
     * @param log file to which its output is appended. @param checkout see the constructor.
     * @throws with its output when the process exits before it serves.
     */
    static async start(env, log, checkout = ROOT) {
        const service = new ServiceProcess(env, log, undefined, checkout);
        await service.serving();
        return service;
    }
    /** Where it answers HTTP calls; null without the role `api`. */
    get url() {
        return this.#url;
    }
    /**
     * Resolves when the service works and accepts calls. With the setting CRASH_POINT it may also die at this point before that.
     * @throws with its output when it ends in another way.
     */
    async serving() {
        const served = await this.printed(/^(.*"msg":"serving".*)\n/m).catch(async (error) => {
            if (this.#mayCrash && this.child.signalCode === "SIGKILL")
                return null;
            await this.kill();
            throw new Error(`the service did not start: ${error.message}`);
        });
        if (served === null)
            return;
        const [, line = ""] = served;
        const { port } = JSON.parse(line);
        this.#url = port === null ? null : `http://127.0.0.1:${port.toString()}`;
        // It prints much, and is the work of this process, which often makes the load. The log has it.
        this.ignoreOutput();
    }
    async kill() {
        await this.end("SIGKILL");
    }
    /** Sends SIGTERM, on which the service ends its work first. */
    async stop() {
        await this.end("SIGTERM", STOP_DEADLINE);
    }
}
