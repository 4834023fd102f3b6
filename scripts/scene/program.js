import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
/** Folder of the project. */
export const ROOT = join(import.meta.dirname, "..", "..");
/** Milliseconds within which every thread must pause. A thread that writes to the disk pauses when the write is over. */
const PAUSE_TIMEOUT = 60_000;
/** A program in a separate process, with its output so far. */
export class Program {
    child;
    #closed;
    #group;
    #output = "";
    #isClosed = false;
    #changed = [];
    /** @param args for Node, TypeScript entry included, unless another program is named. */
    constructor(args, { env = process.env, command = process.execPath, channel, input, log, cwd = ROOT, group = false, } = {}) {
        this.#group = group;
        this.child = spawn(command, args, {
            cwd,
            env,
            detached: group,
            stdio: [input === true ? "pipe" : "ignore", "pipe", "pipe", ...(channel === true ? ["ipc"] : [])],
        });
        const file = log === undefined ? null : createWriteStream(log, { flags: "a" });
        for (const stream of [this.child.stdout, this.child.stderr]) {
            // A character may arrive in two parts.
            stream?.setEncoding("utf8").on("data", this.#keep);
            if (file !== null)
                stream?.pipe(file, { end: false });
        }
        this.#closed = closed(this.child).then(() => {
            this.#isClosed = true;
            file?.end();
            this.#wake();
        });
    }
    get output() {
        return this.#output;
    }
    get pid() {
        if (this.child.pid === undefined)
            throw new Error("the program is not running");
        return this.child.pid;
    }
    get exited() {
        return this.child.exitCode !== null || this.child.signalCode !== null;
    }
    /** Resolves when the output matches. @throws when the process ends, or the time is over, before that. */
    async printed(pattern, timeoutMs = 240_000) {
        const deadline = AbortSignal.timeout(Math.max(0, Math.ceil(timeoutMs)));
        for (;;) {
            const found = pattern.exec(this.#output);
            if (found !== null)
                return found;
            if (this.#isClosed)
                throw new Error(`the process ended without printing ${String(pattern)}:\n${this.#output}`);
            if (deadline.aborted)
                throw new Error(`nothing matched ${String(pattern)} in time:\n${this.#output}`);
            await this.#change(deadline);
        }
    }
    /** Keeps no more output. It is read all the same: a program that prints into a full pipe would wait. */
    ignoreOutput() {
        for (const stream of [this.child.stdout, this.child.stderr])
            stream?.off("data", this.#keep).resume();
    }
    /** The next message of the program. @throws when it ends before that. */
    message() {
        return new Promise((resolve, reject) => {
            const gone = () => {
                this.child.off("message", arrived);
                reject(new Error(`the process ended without a message:\n${this.#output}`));
            };
            const arrived = (message) => {
                this.child.off("exit", gone);
                resolve(message);
            };
            this.child.once("message", arrived);
            this.child.once("exit", gone);
            if (this.exited)
                gone();
        });
    }
    /** Sends a message to the program, which answers each with one. @throws when it ends before that. */
    ask(order) {
        const answer = this.message();
        // The message does not arrive when the process has ended. Then there is no answer either.
        this.child.send(order, () => undefined);
        return answer;
    }
    signal(signal) {
        if (!this.#group)
            this.child.kill(signal);
        else if (!this.exited)
            process.kill(-this.pid, signal);
    }
    /**
     * Sends the signal and waits until the process has ended. @param force milliseconds after which it is killed.
     * @returns the exit code, or the signal that ended it.
     */
    async end(signal, force) {
        this.signal(signal);
        const timer = force === undefined ? undefined : setTimeout(this.signal.bind(this, "SIGKILL"), force);
        const how = await this.gone();
        clearTimeout(timer);
        return how;
    }
    /** Waits until the process has ended, and all of its output is here. */
    async gone() {
        await this.#closed;
        return this.child.signalCode ?? this.child.exitCode ?? 0;
    }
    #keep = (text) => {
        this.#output += text;
        this.#wake();
    };
    #change(deadline) {
        return new Promise((resolve) => {
            this.#changed.push(resolve);
            deadline.addEventListener("abort", () => {
                resolve();
            });
        });
    }
    #wake() {
        for (const wake of this.#changed.splice(0))
            wake();
    }
}
/**
 * Resolves when the process has ended, and its output: the rest of it may come after the end. Not at the event "close", which
 * never comes after this process has closed the channel.
 */
async function closed(child) {
    const streams = [child.stdout, child.stderr].filter((stream) => stream !== null);
    await Promise.all([once(child, "exit"), ...streams.map((stream) => once(stream, "close"))]);
}
/**
 * Stops a process with SIGSTOP, until it gets SIGCONT. Resolves when every thread has stopped: after the signal, a thread
 * may run on for a moment, and begin a transaction.
 */
export async function pause(pid) {
    process.kill(pid, "SIGSTOP");
    const deadline = performance.now() + PAUSE_TIMEOUT;
    while (!statesOf(pid).every((state) => state === "T")) {
        if (performance.now() > deadline)
            throw new Error(`process ${pid.toString()} did not stop on SIGSTOP`);
        await wait(1);
    }
}
/** The states of the threads, as letters; of the whole process on systems without /proc. */
function statesOf(pid) {
    if (process.platform !== "linux") {
        return [execFileSync("ps", ["-o", "stat=", "-p", pid.toString()], { encoding: "utf8" }).trim().charAt(0)];
    }
    const folder = `/proc/${pid.toString()}/task`;
    return readdirSync(folder).map((thread) => stateOf(`${folder}/${thread}/stat`));
}
/** Empty when the thread has just ended. */
function stateOf(statFile) {
    try {
        const text = readFileSync(statFile, "utf8");
        // The state follows the program's name, which is in parentheses and may itself contain some.
        return text.charAt(text.lastIndexOf(")") + 2);
    }
    catch (error) {
        if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ESRCH"))
            return "";
        throw error;
    }
}
