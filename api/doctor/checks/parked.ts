import type { ParkedKind } from "../../domain/conditions.ts";
import { parkedRows } from "../../store/doctor/pipeline.ts";
import { type Check, duration, type Finding, ok, problem, some, warning } from "../check.ts";

/** Rows that are named. If there are more, the cause is hardly in the rows. */
const MOST = 1_000;

const AGAIN =
  "It is tried again by itself, also after an upgrade. The log has the error with its stack (condition row_parked): report it.";

/** What is parked, what it means, and what to do. A problem when an app waits for the row. */
const KINDS: Readonly<Record<ParkedKind, { finding: typeof problem; words: string; advice: string }>> = {
  request: { finding: problem, words: "Requests that cannot be sent or settled", advice: AGAIN },
  media_job: { finding: problem, words: "Requests whose media cannot be copied", advice: AGAIN },
  delivery: {
    finding: problem,
    words: "Webhook deliveries that cannot be sent or recorded",
    advice: `${AGAIN} The receiver may get the event several times, with the same id.`,
  },
  pin: { finding: warning, words: "Content that cannot be pinned or unpinned at the IPFS node", advice: AGAIN },
  announcement: { finding: warning, words: "Content that cannot be announced on the IPFS network", advice: AGAIN },
  metadata: {
    finding: problem,
    words: "Minted tokens whose metadata could not be stored",
    advice:
      "The metadata is kept with the request. Upgrade, or correct the cause in the log, then run `reconcile`: it stores it.",
  },
  old_row: { finding: warning, words: "Old rows that cannot be deleted", advice: AGAIN },
};

/** No row of the database makes its worker fail. */
export const parked: Check = {
  name: "parked",
  asksChain: false,
  run: async ({ database, now }) => {
    const rows = await parkedRows(database.read, MOST);
    const findings: Finding[] = [];
    for (const [kind, found] of Map.groupBy(rows, (row) => row.kind)) {
      const { finding, words, advice } = KINDS[kind];
      const [oldest] = found;
      if (oldest === undefined) continue;
      const names = some(found.map(({ id }) => id));
      const since = duration(now - oldest.since);
      findings.push(
        finding(`${words}: ${names}. The first has failed for ${since}: ${oldest.reason}. ${advice}`, "row_parked"),
      );
    }
    return findings.length > 0 ? findings : [ok("no row is parked")];
  },
};
