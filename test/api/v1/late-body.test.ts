import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";

import { expect } from "chai";

import { revokeConsoleSession } from "../../../api/store/apps/console-sessions.ts";
import { eventually } from "../../support/eventually.ts";
import { useApi } from "../support/use-api.ts";
import { startSession, type TestSession } from "../support/console.ts";

const TOKENS = "/v1/tokens";
const WALLETS = "/v1/accounts";

describe("a body that arrives after its call was authenticated", () => {
  const api = useApi({ per: "test" });
  let session: TestSession;
  let token: Record<string, string>;
  beforeEach(async () => {
    session = await startSession(api);
    token = { authorization: `Bearer ${api.app.token}` };
  });

  /** Calls that the caller has left in this minute. */
  async function callsLeft(headers: Record<string, string>): Promise<number> {
    const answer = await api.get(WALLETS, { token: null, headers });
    return Number(/r=(\d+)/.exec(answer.headers.get("ratelimit") ?? "")?.[1]);
  }

  /** Sends the last bytes of the body after `meanwhile`. @returns the status. */
  async function callLate(
    path: string,
    value: object,
    headers: Record<string, string>,
    meanwhile: () => Promise<unknown>,
  ): Promise<number | undefined> {
    const body = JSON.stringify(value);
    const length = { "content-type": "application/json", "content-length": body.length };
    const before = await callsLeft(headers);
    const call = request(api.baseUrl + path, { method: "POST", headers: { ...headers, ...length } });
    const answered = once(call, "response") as Promise<[IncomingMessage]>;
    call.write(body.slice(0, 5));
    // The service counts a call when it has authenticated it.
    let own = 0;
    await eventually(async () => {
      own += 1;
      return before - (await callsLeft(headers)) > own || undefined;
    });
    await meanwhile();
    call.end(body.slice(5));
    const [answer] = await answered;
    answer.resume();
    return answer.statusCode;
  }

  const nothing = () => Promise.resolve();
  const revokeSession = () => api.database.write((trx) => revokeConsoleSession(trx, session.id, Date.now()));
  const revokeTokens = () =>
    api.database.write((trx) => trx.updateTable("api_tokens").set({ revoked_at: Date.now() }).execute());
  const count = async (table: "api_tokens" | "wallets") =>
    (await api.database.read.selectFrom(table).selectAll().execute()).length;

  it("creates no token for a session that was revoked meanwhile", async () => {
    const before = await count("api_tokens");
    expect(await callLate(TOKENS, { scopes: ["read"] }, session.headers, revokeSession)).to.equal(401);
    expect(await count("api_tokens")).to.equal(before);
  });

  it("creates no wallet for a token that was revoked meanwhile", async () => {
    expect(await callLate(WALLETS, { user_identifier: "a" }, token, revokeTokens)).to.equal(401);
    expect(await count("wallets")).to.equal(0);
  });

  it("is taken from a session and a token that still work", async () => {
    expect(await callLate(WALLETS, { user_identifier: "a" }, session.headers, nothing)).to.equal(200);
    expect(await callLate(WALLETS, { user_identifier: "b" }, token, nothing)).to.equal(200);
  });
});
