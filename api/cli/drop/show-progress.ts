import type { Terminal } from "../terminal.ts";

const WIDTH = 30;

/** A bar that stays in its line on a terminal; elsewhere a line for each tenth. */
export function showProgress({ remark, rewrite }: Terminal): (step: string, done: number, all: number) => void {
  let last = "";
  return (step, done, all) => {
    if (all === 0) return;
    const share = done / all;
    const mark = `${step} ${Math.floor(share * 10).toString()}`;
    const counts = `${step} ${done.toString()} of ${all.toString()}`;
    if (rewrite !== undefined) {
      const filled = Math.round(share * WIDTH);
      rewrite(`[${"#".repeat(filled)}${"-".repeat(WIDTH - filled)}] ${counts}`);
      if (done === all && mark !== last) remark?.("\n");
    } else if (mark !== last) {
      remark?.(`${counts}\n`);
    }
    last = mark;
  };
}
