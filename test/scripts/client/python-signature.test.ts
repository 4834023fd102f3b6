import { expect } from "chai";

import { newWebhookSecret, rotateSecrets, signatureHeaders, signingKey } from "../../../api/keys/webhook-secrets.ts";
import { runProgram, snippetsOf } from "./support.ts";

const MINUTE = 60_000;
/** Calls the documented function with what the test gives, and prints its answer. */
const CALL = `
import json, sys
given = json.loads(sys.argv[1])
print(is_from_moneta(given["secret"], given["headers"], given["body"].encode()))
`;

describe("docs/webhooks.md > the signature in Python", () => {
  const [old, secret] = [newWebhookSecret(), newWebhookSecret()];
  const payload = JSON.stringify({ type: "completed", reference: "Größe 42 🎩" });
  const keys = rotateSecrets([{ secret: old, expires_at: null }], secret, Date.now()).map(signingKey);
  let program: string;

  before("find Python and the program", async function () {
    const found = await run("--version").catch(() => null);
    if (found?.code !== 0) {
      console.log("skipped: python3 is not on this machine, so the example of docs/webhooks.md is not run");
      this.skip();
    }
    const snippets = await snippetsOf("docs/webhooks.md", "python");
    expect(snippets).to.have.length(1);
    program = snippets[0] ?? "";
    expect(program.trim().split("\n")).to.have.length(12);
  });

  const run = (...args: string[]) => runProgram("python3", args, { cwd: import.meta.dirname });

  /** What the function says of a call that the service signed. */
  async function accepts(given: { secret: string; body?: string; at?: number; headers?: object }): Promise<boolean> {
    const signed = signatureHeaders(keys, { id: "event-1", at: given.at ?? Date.now(), payload });
    const headers = { ...signed, ...given.headers };
    const argument = JSON.stringify({ secret: given.secret, headers, body: given.body ?? payload });
    const { output, errors } = await run("-c", program + CALL, argument);
    expect(output.trim(), errors).to.be.oneOf(["True", "False"]);
    return output.trim() === "True";
  }

  it("accepts a call with the new secret, and after a rotation with the old one", async () => {
    expect(await accepts({ secret })).to.equal(true);
    expect(await accepts({ secret: old })).to.equal(true);
  });

  it("refuses another secret, another body, another id, and a signature that is none", async () => {
    expect(await accepts({ secret: newWebhookSecret() })).to.equal(false);
    expect(await accepts({ secret, body: `${payload} ` })).to.equal(false);
    expect(await accepts({ secret, headers: { "webhook-id": "event-2" } })).to.equal(false);
    const none = { "webhook-signature": "v1,é", "webhook-timestamp": "x" };
    expect(await accepts({ secret, headers: none })).to.equal(false);
  });

  it("refuses a call that was recorded earlier", async () => {
    expect(await accepts({ secret, at: Date.now() - 6 * MINUTE })).to.equal(false);
    expect(await accepts({ secret, at: Date.now() - 4 * MINUTE })).to.equal(true);
  });
});
