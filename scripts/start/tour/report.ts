import { styleText } from "node:util";

const INDENT = "    ";

/** A completed request and its transaction. */
interface Completed {
  request_id: string;
  transaction_hash?: string | null;
}

/**
 * The output of the tour: one line for each step, or also its requests, transactions and addresses (verbose). styleText omits
 * the colours under NO_COLOR and where stdout is not a terminal.
 */
export class Report {
  readonly #out: NodeJS.WriteStream;
  readonly #verbose: boolean;
  #step = 0;
  /** Whether the line of the present step has no end yet. */
  #open = false;

  constructor(out: NodeJS.WriteStream, verbose: boolean) {
    this.#out = out;
    this.#verbose = verbose;
  }

  step(title: string): void {
    this.end();
    this.#step++;
    const line = styleText(["bold", "cyan"], `${this.#step.toString().padStart(2)}  ${title}`);
    this.#out.write(this.#verbose ? `\n${line}\n` : line);
    this.#open = !this.#verbose;
  }

  /** Ends the line of the last step. */
  end(): void {
    if (this.#open) this.#out.write("\n");
    this.#open = false;
  }

  /** What the step showed, at the end of its line. */
  result(text: string): void {
    if (this.#verbose) this.line(text);
    else this.#out.write(`: ${text}`);
  }

  /** A detail. */
  line(text: string): void {
    if (this.#verbose) this.#out.write(`${INDENT}${text}\n`);
  }

  /** Requests that were sent together, and the transactions that they share. @returns the number of transactions. */
  completed(requests: readonly Completed[]): number {
    const [first, ...more] = requests.map(({ request_id: id }) => id);
    this.line(`request     ${styleText("dim", first ?? "none")}${more.length > 0 ? ` and ${more.length} more` : ""}`);
    const counts = new Map<string, number>();
    for (const { transaction_hash: hash } of requests)
      counts.set(hash ?? "none", (counts.get(hash ?? "none") ?? 0) + 1);
    for (const [hash, count] of counts) {
      this.line(`transaction ${styleText("dim", hash)} (${count === 1 ? "1 request" : `${count} requests`})`);
    }
    return counts.size;
  }
}
