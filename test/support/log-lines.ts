import { Writable } from "node:stream";

import { type Logger, pino } from "pino";

export interface LogLine {
  level: number;
  msg: string;
  err?: { message: string };
}

/** A logger that keeps its lines. */
export function logLines(level = "info"): { logger: Logger; lines: LogLine[] } {
  const lines: LogLine[] = [];
  const sink = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      lines.push(JSON.parse(chunk.toString()) as LogLine);
      done();
    },
  });
  return { logger: pino({ level }, sink), lines };
}
