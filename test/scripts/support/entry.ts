// Run by run.mjs in a test: prints every signal it gets, and ends with code 7 some time after the first.
function stop(signal: string): void {
  console.log(signal);
  setTimeout(() => process.exit(7), 300);
}

process.on("SIGINT", stop);
process.on("SIGTERM", stop);
setInterval(() => undefined, 1_000);
console.log(["ready", process.versions.node, ...process.argv.slice(2)].join(" "));
