import type { Completed } from "./requests.ts";

const INDENT = "    ";
const BAR_WIDTH = 40;
/** How many lines a progress makes where nothing can be drawn over. */
const PLAIN_LINES = 4;

export interface Progress {
  /** One more is done. */
  advance(): void;
  /** Ends the bar's line, at whatever it shows. */
  end(): void;
}

/** What the tour prints. */
export class Report {
  readonly #out: NodeJS.WriteStream;
  #step = 0;

  constructor(out: NodeJS.WriteStream) {
    this.#out = out;
  }

  step(title: string): void {
    this.#step++;
    this.#out.write(`\n${this.#step.toString().padStart(2)}  ${title}\n`);
  }

  line(text: string): void {
    this.#out.write(`${INDENT}${text}\n`);
  }

  /** @param sharing how many requests were in the request's transaction. */
  completed(request: Completed, sharing: number): void {
    this.line(`request     ${request.requestId}`);
    this.line(`transaction ${request.transaction} (${sharing === 1 ? "1 request" : `${sharing} requests`})`);
  }

  /** A bar on a terminal, a few plain lines elsewhere. */
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
