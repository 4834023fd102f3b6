import { plural } from "../../shared/plural.ts";
import type { Plan } from "./plan.ts";
import type { DropState } from "./state.ts";

/** What a dry run without problems prints. */
export function describePlan(plan: Plan, state: DropState): string {
  const { name, type } = plan.collection;
  return [
    `${plural(plan.tokens.length, "token")} for the ${type} collection "${name}", to ${plan.to}.`,
    `${plural(plan.files.length, "file")} to upload, ${plural(bytesOf(plan), "byte")}.`,
    ...(plan.ignored.length > 0 ? [`These fields are not stored: ${plan.ignored.join(", ")}.`] : []),
    nextStep(state),
  ].join("\n");
}

function nextStep(state: DropState): string {
  if (state.finished) return "The drop is finished.";
  if (state.start === null) return "Everything is in order. Nothing was sent. Run again with --yes to mint.";
  const done = state.in("final", "refused").length;
  return `The drop has begun: ${plural(done, "token is", "tokens are")} done. Run again with --yes to continue.`;
}

/** The JSON form of a result. */
export function describe(plan: Plan, state: DropState, what: "problems" | "checked" | "finished") {
  const { tokens, files, problems, ignored } = plan;
  const failed = state.failed().length;
  const unknown = state.unknown().length;
  const completed = state.in("final", "refused").length - failed - unknown;
  return {
    state: what,
    tokens: tokens.length,
    files: files.length,
    bytes: bytesOf(plan),
    problems,
    ignored_fields: ignored,
    completed,
    failed,
    unknown,
    open: tokens.length - completed - failed - unknown,
  };
}

function bytesOf({ files }: Plan): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0);
}
