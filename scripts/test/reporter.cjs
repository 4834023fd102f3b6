const { writeFileSync } = require("node:fs");
const { reporters } = require("mocha");

/**
 * Mocha's default reporter, which also writes its counts and its failures to a file: `--reporter-option counts=<path>`.
 * It is CommonJS because Mocha loads reporters with `require`.
 */
module.exports = class CountingReporter extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    runner.once("end", () => {
      const { passes, failures, pending } = this.stats;
      writeFileSync(
        options.reporterOption.counts,
        JSON.stringify({ passed: passes, failed: failures, skipped: pending, failures: this.failures.map(describe) }),
      );
    });
  }
};

function describe(test) {
  const [reason = ""] = String(test.err?.message ?? "").split("\n");
  return `${test.fullTitle()}: ${reason}`;
}
