// Loaded before a program: kills it as soon as it has printed what matches KILL_WHEN_PRINTED. Output to a pipe is written at once,
// so the program does nothing more.
const wanted = new RegExp(process.env.KILL_WHEN_PRINTED);

const { write } = process.stdout;
process.stdout.write = function (chunk, ...rest) {
  const flushed = write.call(this, chunk, ...rest);
  if (wanted.test(String(chunk))) process.kill(process.pid, "SIGKILL");
  return flushed;
};
