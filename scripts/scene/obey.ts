import { BroadcastChannel, isMainThread } from "node:worker_threads";

type CarryOut<Answer> = (order: never) => Answer | Promise<Answer>;
type BetweenThreads<Answer> = { ready: true } | { order: unknown } | { answer: Answer };

/**
 * Called in a process with a channel, by a file that each of its threads loads first. Every thread carries out the orders of
 * `Program.ask`, and the main thread answers. Releases up to 0.3.0, which `npm run bench -- --checkout` measures, have two threads.
 * @param sum the answer of both threads.
 */
export function obey<Answer>(carryOut: CarryOut<Answer>, sum: (main: Answer, other: Answer) => Answer): void {
  const threads = new BroadcastChannel("moneta-orders");
  threads.unref();
  if (isMainThread) obeyChannel(threads, carryOut, sum);
  else obeyMainThread(threads, carryOut);
}

function obeyChannel<Answer>(
  threads: BroadcastChannel,
  carryOut: CarryOut<Answer>,
  sum: (main: Answer, other: Answer) => Answer,
): void {
  let hasOther = false;
  let answered: (answer: Answer) => void = () => undefined;
  threads.onmessage = (message) => {
    const { data } = message as { data: BetweenThreads<Answer> };
    if ("ready" in data) hasOther = true;
    if ("answer" in data) answered(data.answer);
  };
  const elsewhere = (order: unknown) =>
    new Promise<Answer>((resolve) => {
      answered = resolve;
      threads.postMessage({ order } satisfies BetweenThreads<Answer>);
    });
  process.on("message", (order: unknown) => {
    void (async () => {
      const other = hasOther ? elsewhere(order) : null;
      const here = await carryOut(order as never);
      process.send?.(other === null ? here : sum(here, await other));
    })();
  });
  // The channel must not keep the process alive.
  process.channel?.unref();
}

function obeyMainThread<Answer>(threads: BroadcastChannel, carryOut: CarryOut<Answer>): void {
  threads.onmessage = (message) => {
    const { data } = message as { data: BetweenThreads<Answer> };
    if (!("order" in data)) return;
    void Promise.resolve(carryOut(data.order as never)).then((answer) => {
      threads.postMessage({ answer } satisfies BetweenThreads<Answer>);
    });
  };
  threads.postMessage({ ready: true } satisfies BetweenThreads<Answer>);
}
