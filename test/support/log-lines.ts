import { type Logger, pino } from "pino";

export interface LogLine {
  level: number;
  msg: string;
  err?: { message: string };
}

/** A logger that keeps its lines. */
export function logLines(level = "info"): { logger: Logger; lines: LogLine[] } {
  const lines: LogLine[] = [];
  const sink = { write: (line: string) => void lines.push(JSON.parse(line) as LogLine) };
  return { logger: pino({ level }, sink), lines };
}
