import { ApiError } from "../../domain/error-codes.ts";
import { defineServiceEndpoint } from "../endpoint.ts";
import { doctorExample } from "../examples/operator.ts";
import { isoTime } from "../present/time.ts";
import { doctorReport } from "../schemas/operator-state.ts";
import { none, noQuery } from "../schemas/params.ts";

export function operatorDoctor() {
  return defineServiceEndpoint({
    method: "get",
    path: "/operator/doctor",
    summary: "Check the whole service, and say how to fix each problem",
    name: "getDoctorFindings",
    description:
      "The findings of `npm run cli -- doctor`, with the keys of the process that answers. The checks run once at a time, and their result serves all calls of the next 15 seconds. If they take longer than 20 seconds, the answer is 503: call again, they go on meanwhile.",
    examples: { answer: doctorExample },
    scope: "read",
    caller: "operator",
    params: none,
    query: noQuery,
    response: doctorReport,
    handle: async ({ operator }) => {
      const report = await operator.doctor();
      if (report === null) {
        const message =
          "The checks have no result yet: they take long, or ended with an error that is in the log. Call again in some seconds, or run `npm run cli -- doctor`.";
        throw new ApiError("unavailable", null, { retryAfter: 5, message });
      }
      return {
        result: report.result,
        findings: report.findings.map(({ check, result, words, condition }) => ({
          check,
          result,
          words,
          condition: condition ?? null,
        })),
        checked_at: isoTime(report.checkedAt),
      };
    },
  });
}
