import { expect } from "chai";

import { Program } from "../../../scripts/scene/program.ts";

describe("Program", () => {
  it("is gone when it has ended after its channel was closed, and has all of its output", async () => {
    const text =
      "process.on('message', () => process.send('ready')); process.once('disconnect', () => console.log('x'.repeat(200_000)));";
    const program = new Program(["--eval", text], { channel: true });
    expect(await program.ask("order")).to.equal("ready");
    program.child.disconnect();
    expect(await program.gone()).to.equal(0);
    expect(program.output.trim()).to.have.length(200_000);
  });

  it("is gone when a signal ended it", async () => {
    const program = new Program(["--eval", "setInterval(() => {}, 1_000)"]);
    expect(await program.end("SIGKILL")).to.equal("SIGKILL");
  });
});
