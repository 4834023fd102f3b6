import { styleText } from "node:util";
const INDENT = "    ";
const BAR_WIDTH = 40;
/** Number of progress lines when the output is not a terminal. */
const PLAIN_LINES = 4;
/**
 * The output of the tour: one line for each step, or also its requests, transactions and addresses (verbose). styleText omits
 * the colours under NO_COLOR and where stdout is not a terminal.
 */
export class Report {
    #out;
    #verbose;
    #step = 0;
    /** The line of the present step, without its end. */
    #open = null;
    constructor(out, verbose) {
        this.#out = out;
        this.#verbose = verbose;
    }
    step(title) {
        this.end();
        this.#step++;
        const line = styleText(["bold", "cyan"], `${this.#step.toString().padStart(2)}  ${title}`);
        this.#out.write(this.#verbose ? `\n${line}\n` : line);
        if (!this.#verbose)
            this.#open = line;
    }
    /** Ends the line of the last step. */
    end() {
        if (this.#open !== null)
            this.#out.write("\n");
        this.#open = null;
    }
    /** What the step showed, at the end of its line. */
    result(text) {
        if (this.#verbose)
            this.line(text);
        else
            this.#out.write(`: ${text}`);
    }
    /** A detail. */
    line(text) {
        if (this.#verbose)
            this.#out.write(`${INDENT}${text}\n`);
    }
    /** @param sharing number of requests in the same transaction. */
    completed(request, sharing) {
        this.line(`request     ${styleText("dim", request.requestId)}`);
        this.#transaction(request.transaction, sharing);
    }
    /** Requests that were sent together, and the transactions that they share. */
    shared(completed, requests) {
        const [first] = completed;
        if (first === undefined)
            return;
        this.line(`requests    ${styleText("dim", first.requestId)} and ${completed.length - 1} more`);
        for (const transaction of new Set(completed.map((request) => request.transaction))) {
            this.#transaction(transaction, requests.sharing(transaction));
        }
    }
    #transaction(hash, sharing) {
        this.line(`transaction ${styleText("dim", hash)} (${sharing === 1 ? "1 request" : `${sharing} requests`})`);
    }
    /** A progress bar on a terminal, for as long as it lasts; elsewhere, a few plain lines among the details. */
    progress(label, total) {
        let done = 0;
        const terminal = this.#out.isTTY;
        const line = this.#open ?? "";
        const draw = () => {
            const filled = Math.round((BAR_WIDTH * done) / total);
            const bar = "#".repeat(filled) + "-".repeat(BAR_WIDTH - filled);
            // A bar behind a title would not fit into the line.
            this.#out.write(`\r\x1b[2K${INDENT}${label} [${bar}] ${done}/${total}`);
        };
        if (terminal)
            draw();
        return {
            advance: () => {
                done++;
                if (terminal)
                    draw();
                else if (done % Math.ceil(total / PLAIN_LINES) === 0 || done === total)
                    this.line(`${label} ${done}/${total}`);
            },
            end: () => {
                if (terminal)
                    this.#out.write(this.#verbose ? "\n" : `\r\x1b[2K${line}`);
            },
        };
    }
}
