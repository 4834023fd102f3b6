import { Program } from "../../scene/program.ts";
/** A process of the benchmark that does one order after the other. `answerOrders` is its other side. */
export class Child {
    #process;
    constructor(file, args) {
        this.#process = new Program([file, ...args], { channel: true });
    }
    /** @throws Error of the child, or when it ends before it answers. */
    async ask(order) {
        const answer = await this.#process.ask(order);
        if ("error" in answer)
            throw new Error(answer.error);
        return answer.result;
    }
    async stop() {
        if (!this.#process.exited)
            this.#process.child.disconnect();
        await this.#process.gone();
    }
}
/** Runs in the child: answers each order of `Child.ask`. Its end of the channel is the end of the process. */
export function answerOrders(handle, close) {
    process.on("message", (order) => {
        handle(order).then((result) => process.send?.({ result }), (error) => process.send?.({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) }));
    });
    process.once("disconnect", () => {
        void close().finally(() => process.exit());
    });
}
