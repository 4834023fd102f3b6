import { BroadcastChannel, isMainThread } from "node:worker_threads";
/**
 * Called in a process with a channel, by a file that each of its threads loads first. Every thread carries out the orders of
 * `Program.ask`, and the main thread answers. Without another thread, it answers alone.
 * @param sum the answer of both threads.
 */
export function obey(carryOut, sum) {
    const threads = new BroadcastChannel("moneta-orders");
    threads.unref();
    if (isMainThread)
        obeyChannel(threads, carryOut, sum);
    else
        obeyMainThread(threads, carryOut);
}
function obeyChannel(threads, carryOut, sum) {
    let hasOther = false;
    let answered = () => undefined;
    threads.onmessage = (message) => {
        const { data } = message;
        if ("ready" in data)
            hasOther = true;
        if ("answer" in data)
            answered(data.answer);
    };
    const elsewhere = (order) => new Promise((resolve) => {
        answered = resolve;
        threads.postMessage({ order });
    });
    process.on("message", (order) => {
        void (async () => {
            const other = hasOther ? elsewhere(order) : null;
            const here = await carryOut(order);
            process.send?.(other === null ? here : sum(here, await other));
        })();
    });
    // The channel must not keep the process alive.
    process.channel?.unref();
}
function obeyMainThread(threads, carryOut) {
    threads.onmessage = (message) => {
        const { data } = message;
        if (!("order" in data))
            return;
        void Promise.resolve(carryOut(data.order)).then((answer) => {
            threads.postMessage({ answer });
        });
    };
    threads.postMessage({ ready: true });
}
