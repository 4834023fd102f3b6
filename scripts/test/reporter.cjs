const { relative } = require("node:path");
const { format } = require("node:util");
const { reporters } = require("mocha");

/**
 * Sends the result of each test file to the process that started this one, and a message for each test, which shows that this
 * process still works. The messages are those of `messages.ts`. It is CommonJS because Mocha loads reporters with `require`.
 */
module.exports = class SendingReporter {
  constructor(runner) {
    let began = performance.now();
    let current = null;

    // A file is done when the tests of the next one begin. Hooks outside of every file belong to the file before.
    function enter(file) {
      if (file === undefined || file === current?.path) return;
      finish();
      current = { path: file, passed: 0, failed: 0, skipped: 0, failures: [] };
    }
    function finish() {
      if (current === null) return;
      const { path, failures, ...counts } = current;
      const seconds = (performance.now() - began) / 1000;
      began = performance.now();
      current = null;
      process.send({
        file: { path: relative(process.cwd(), path), seconds, ...counts, failures: failures.map(describe) },
      });
    }

    runner.on("suite", ({ file }) => enter(file));
    // It may stand outside of every suite.
    runner.on("test", ({ file }) => enter(file));
    runner.on("pass", () => current.passed++);
    runner.on("pending", () => current.skipped++);
    // Also for a hook that failed.
    runner.on("fail", (failed, error) => {
      failed.err = error;
      current ??= { path: failed.file ?? "", passed: 0, failed: 0, skipped: 0, failures: [] };
      current.failed++;
      current.failures.push(failed);
    });
    runner.on("test end", () => process.send({ alive: true }));
    runner.on("hook end", () => process.send({ alive: true }));
    runner.once("end", finish);
  }
};

/** The title, and all that Mocha's default reporter says about the failure. */
function describe(failed) {
  const { consoleLog } = reporters.Base;
  const lines = [];
  reporters.Base.consoleLog = (...line) => lines.push(format(...line));
  try {
    reporters.Base.list([failed]);
  } finally {
    reporters.Base.consoleLog = consoleLog;
  }
  return { title: failed.fullTitle(), text: lines.join("\n") };
}
