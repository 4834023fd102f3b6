import { expect } from "chai";

import { redactUrl } from "../../../api/v1/request-log.ts";
import { useApi } from "../support/use-api.ts";

describe("the request log", () => {
  const api = useApi({ per: "test" });

  it("has no user identifier from a path or a query", async () => {
    const user = "alice@example.com";
    await api.post("/v1/accounts", { user_identifier: user });
    for (const path of [
      `/v1/accounts/user/${encodeURIComponent(user)}`,
      `/V1/Accounts/User/${user}/`,
      `/v1/accounts?user_identifier=${user}&limit=3`,
      `/v1/accounts/user/${user}?x=${user}`,
    ]) {
      await api.get(path);
    }
    const log = api.log.join("");
    expect(log).to.not.contain("alice").and.not.contain("example.com");
    expect(log).to.contain('"/v1/accounts/user/[redacted]"').and.contain("limit=3");
  });

  for (const [url, shown] of [
    ["/v1/accounts/user/alice", "/v1/accounts/user/[redacted]"],
    ["/v1/accounts/user/a/b", "/v1/accounts/user/[redacted]"],
    ["/v1/accounts/user/a%0Ab?limit=1", "/v1/accounts/user/[redacted]?limit=1"],
    ["/v1/accounts/0x1/0x2", "/v1/accounts/0x1/0x2"],
    ["/v1/requests?status=failed&type=mint&offset=3", "/v1/requests?status=failed&type=mint&offset=3"],
    ["/v1/requests?alice&x=alice?limit=alice", "/v1/requests?[redacted]&[redacted]"],
    ["/", "/"],
  ] as const) {
    it(`shows ${url} as ${shown}`, () => {
      expect(redactUrl(url)).to.equal(shown);
    });
  }
});
