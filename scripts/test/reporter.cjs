const { writeFileSync } = require("node:fs");
const { reporters } = require("mocha");

/**
 * Mocha's own reporter, which also leaves its numbers in a file: `--reporter-option counts=<path>`.
 * CommonJS, because Mocha loads reporters by `require`.
 */
module.exports = class CountingReporter extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    runner.once("end", () => {
      const { passes, failures, pending } = this.stats;
      writeFileSync(
        options.reporterOption.counts,
        JSON.stringify({ passed: passes, failed: failures, skipped: pending }),
      );
    });
  }
};
