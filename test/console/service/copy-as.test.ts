import { execFileSync } from "node:child_process";

import { expect } from "chai";

import { asCurl, asTypeScript } from "../../../console/service/copy-as.ts";

const SERVICE = "https://nft.example/base/";

/** The arguments that a shell hands to `curl`. */
function shellArguments(command: string): string[] {
  const script = `curl() { printf '%s\\0' "$@"; }\nMONETA_TOKEN=t\n${command}`;
  return execFileSync("sh", ["-c", script]).toString().split("\0").slice(0, -1);
}

describe("copied calls", () => {
  const change = {
    method: "PATCH",
    path: "/v1/collections/{address}",
    pathParams: { address: "0xab/c" },
    body: { name: `It's $(rm -rf /) "here"\n\`x\`` },
  };

  it("are commands that a shell reads as they were meant, whatever the texts have", () => {
    expect(shellArguments(asCurl(change, SERVICE))).to.deep.equal([
      "https://nft.example/base/v1/collections/0xab%2Fc",
      "-X",
      "PATCH",
      "-H",
      "Authorization: Bearer t",
      "-H",
      "Content-Type: application/json",
      "--data",
      JSON.stringify(change.body),
    ]);
  });

  it("have the query, and no method for GET", () => {
    const call = {
      method: "GET",
      path: "/v1/requests",
      query: { limit: 5, cursor: undefined, transaction_hash: "a&b" },
    };
    const [url, ...rest] = shellArguments(asCurl(call, SERVICE));
    expect(url).to.equal("https://nft.example/base/v1/requests?limit=5&transaction_hash=a%26b");
    expect(rest).to.deep.equal(["-H", "Authorization: Bearer t"]);
  });

  it("are calls of the typed client", () => {
    expect(asTypeScript(change, SERVICE)).to.equal(
      [
        'import { answerOf, createClient } from "@moneta/client";',
        "",
        'const baseUrl = process.env.MONETA_URL ?? "https://nft.example/base";',
        "const client = createClient({ baseUrl, token: process.env.MONETA_TOKEN! });",
        'const answer = await answerOf(client.PATCH("/v1/collections/{address}", ' +
          `${JSON.stringify({ params: { path: change.pathParams }, body: change.body }, null, 2)}));`,
      ].join("\n"),
    );
    expect(asTypeScript({ method: "GET", path: "/v1/usage" }, SERVICE)).to.contain('client.GET("/v1/usage"));');
  });

  it("read an uploaded file from the disk", () => {
    const call = { method: "POST", path: "/v1/media", file: "cat.png" };
    expect(shellArguments(asCurl(call, SERVICE))).to.include.members(["--data-binary", "@cat.png"]);
    expect(asTypeScript(call, SERVICE)).to.contain('client.uploadMedia(await openAsBlob("cat.png"))');
  });

  it("of the tokens sign in first, because only sessions may make them", () => {
    const call = { method: "DELETE", path: "/v1/tokens/{token_id}", pathParams: { token_id: "t1" } };
    const command = asCurl(call, SERVICE);
    expect(command).to.contain("the operator of the service gives you").and.not.to.contain("MONETA_TOKEN");
    const cli = "DATA_DIR=data/local npm run cli --";
    expect(asCurl(call, SERVICE, cli)).to.contain(`${cli} console --app NAME`);
    expect(asTypeScript(call, SERVICE, cli)).to.contain(`${cli} console --app NAME`);
    expect(shellArguments(`MONETA_CODE=c0de\n${command}`)).to.deep.equal([
      ...["-c", "moneta-session.txt", "https://nft.example/base/v1/console/session"],
      ...["-H", "X-Moneta-Console: 1", "-H", "Origin: https://nft.example", "-H", "Content-Type: application/json"],
      ...["--data", '{"code":"c0de"}'],
      ...["https://nft.example/base/v1/tokens/t1", "-X", "DELETE", "-b", "moneta-session.txt"],
      ...["-H", "X-Moneta-Console: 1", "-H", "Origin: https://nft.example"],
    ]);
    expect(asTypeScript(call, SERVICE)).to.contain('POST("/v1/console/session"').and.not.to.contain("MONETA_TOKEN");
  });
});
