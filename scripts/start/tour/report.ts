import { styleText } from "node:util";

import type { Completed, Requests } from "./requests.ts";

const INDENT = "    ";
const BAR_WIDTH = 40;
/** Number of progress lines when the output is not a terminal. */
const PLAIN_LINES = 4;

interface Progress {
  /** Counts one more item as done. */
  advance(): void;
  /** Ends the line of the bar. */
  end(): void;
}

/** The output of the tour. styleText omits the colours under NO_COLOR and where stdout is not a terminal. */
export class Report {
  readonly #out: NodeJS.WriteStream;
  #step = 0;

  constructor(out: NodeJS.WriteStream) {
    this.#out = out;
  }

  step(title: string): void {
    this.#step++;
    this.#out.write(`\n${styleText(["bold", "cyan"], `${this.#step.toString().padStart(2)}  ${title}`)}\n`);
  }

  line(text: string): void {
    this.#out.write(`${INDENT}${text}\n`);
  }

  /** @param sharing number of requests in the same transaction. */
  completed(request: Completed, sharing: number): void {
    this.line(`request     ${styleText("dim", request.requestId)}`);
    this.#transaction(request.transaction, sharing);
  }

  /** Requests that were sent together, and the transactions that they share. */
  shared(completed: Completed[], requests: Requests): void {
    const [first] = completed;
    if (first === undefined) return;
    this.line(`requests    ${styleText("dim", first.requestId)} and ${completed.length - 1} more`);
    for (const transaction of new Set(completed.map((request) => request.transaction))) {
      this.#transaction(transaction, requests.sharing(transaction));
    }
  }

  #transaction(hash: string, sharing: number): void {
    this.line(`transaction ${styleText("dim", hash)} (${sharing === 1 ? "1 request" : `${sharing} requests`})`);
  }

  /** A progress bar on a terminal; otherwise a few plain lines. */
  progress(label: string, total: number): Progress {
    let done = 0;
    const terminal = this.#out.isTTY;
    const draw = () => {
      const filled = Math.round((BAR_WIDTH * done) / total);
      const bar = "#".repeat(filled) + "-".repeat(BAR_WIDTH - filled);
      this.#out.write(`\r${INDENT}${label} [${bar}] ${done}/${total}`);
    };
    if (terminal) draw();
    return {
      advance: () => {
        done++;
        if (terminal) draw();
        else if (done % Math.ceil(total / PLAIN_LINES) === 0 || done === total) this.line(`${label} ${done}/${total}`);
      },
      end: () => {
        if (terminal) this.#out.write("\n");
      },
    };
  }
}
