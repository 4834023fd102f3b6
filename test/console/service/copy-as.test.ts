import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

import { expect } from "chai";

import { asCurl, asTypeScript } from "../../../console/service/copy-as.ts";
import { useFolder } from "../../support/use-folder.ts";

const SERVICE = "https://nft.example/base/";
/** Each of these would end the quotes, run a command, or read a file, if it were not quoted. */
const HOSTILE = [
  "'; touch ran; '",
  "$(touch ran)",
  "`touch ran`",
  "\\'; touch ran #",
  "a\n touch ran\n",
  '"; touch ran; "',
  "@/etc/passwd",
  "!!",
];

describe("copied calls", () => {
  const folder = useFolder();

  /** The arguments that a shell hands to each `curl`. */
  function shellArguments(command: string): string[] {
    const script = `curl() { printf '%s\\0' "$@"; }\nMONETA_TOKEN=t\n${command}`;
    return execFileSync("sh", ["-c", script], { cwd: folder.path }).toString().split("\0").slice(0, -1);
  }

  for (const text of HOSTILE) {
    it(`quotes ${JSON.stringify(text)} for a shell`, () => {
      const command = asCurl(
        {
          method: "POST",
          path: "/v1/x/{user}",
          pathParams: { user: text },
          query: { q: text },
          body: { name: text, [text]: 1 },
        },
        SERVICE,
      );
      const [url = "", ...rest] = shellArguments(command);
      expect(new URL(url).searchParams.get("q")).to.equal(text);
      expect(new URL(url).pathname).to.equal(`/base/v1/x/${encodeURIComponent(text)}`);
      expect(rest.slice(0, -1)).to.deep.equal([
        "-X",
        "POST",
        "-H",
        "Authorization: Bearer t",
        "-H",
        "Content-Type: application/json",
        "--data",
      ]);
      expect(JSON.parse(rest.at(-1) ?? "")).to.deep.equal({ name: text, [text]: 1 });
      expect(existsSync(join(folder.path, "ran"))).to.equal(false);
    });

    it(`quotes the file name ${JSON.stringify(text)} for a shell`, () => {
      const command = asCurl({ method: "POST", path: "/v1/media", file: text }, SERVICE);
      expect(shellArguments(command).at(-1)).to.equal(`@${text.replaceAll("\n", "?")}`);
      expect(existsSync(join(folder.path, "ran"))).to.equal(false);
    });

    it(`quotes ${JSON.stringify(text)} in code`, () => {
      const call = { method: "POST", path: "/v1/nfts", body: { name: text, other: "x".repeat(100) } };
      const [, literal = ""] = /"\/v1\/nfts", ([\s\S]*)\)\);$/.exec(asTypeScript(call, SERVICE)) ?? [];
      const { headers, ...options } = JSON.parse(literal) as { headers: object };
      expect(options).to.deep.equal({ body: call.body });
      expect(Object.keys(headers)).to.deep.equal(["Idempotency-Key"]);
    });
  }

  it("shows what a terminal or an editor would obey or hide", () => {
    const unseen = "\u007f\u009b201~\u202e\u2066\u200b\u2028";
    const body = { name: unseen, long: "x".repeat(100) };
    for (const text of [
      asCurl({ method: "POST", path: "/v1/nfts", body }, SERVICE),
      asTypeScript({ method: "POST", path: "/v1/nfts", body }, SERVICE),
      asCurl({ method: "POST", path: "/v1/media", file: unseen }, SERVICE),
      asTypeScript({ method: "POST", path: "/v1/media", file: unseen }, SERVICE),
    ]) {
      expect(text).to.not.match(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b\u2028-\u202e\u2066]/);
    }
    const command = asCurl({ method: "POST", path: "/v1/nfts", body }, SERVICE);
    expect(JSON.parse(shellArguments(command).at(-1) ?? "")).to.deep.equal(body);
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
