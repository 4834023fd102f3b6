import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

import { expect } from "chai";

import { asCurl, asTypeScript } from "../../console/service/copy-as.ts";
import { useFolder } from "../support/use-folder.ts";

const SERVICE = "http://localhost:3000/";
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

describe("console: calls to copy", () => {
  const folder = useFolder();

  /** What a shell gives to `curl` as arguments. */
  function argumentsOf(command: string): string[] {
    const script = `curl() { for word in "$@"; do printf '%s\\0' "$word"; done; }\n${command}`;
    const env = { PATH: process.env["PATH"] ?? "", MONETA_TOKEN: "token" };
    return execFileSync("sh", ["-c", script], { cwd: folder.path, env, encoding: "utf8" }).split("\0").slice(0, -1);
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
      const [url = "", ...rest] = argumentsOf(command);
      expect(new URL(url).searchParams.get("q")).to.equal(text);
      expect(new URL(url).pathname).to.equal(`/v1/x/${encodeURIComponent(text)}`);
      expect(rest.slice(0, -1)).to.deep.equal([
        "-X",
        "POST",
        "-H",
        "Authorization: Bearer token",
        "-H",
        "Content-Type: application/json",
        "--data",
      ]);
      expect(JSON.parse(rest.at(-1) ?? "")).to.deep.equal({ name: text, [text]: 1 });
      expect(existsSync(join(folder.path, "ran"))).to.equal(false);
    });

    it(`quotes the file name ${JSON.stringify(text)} for a shell`, () => {
      const command = asCurl({ method: "POST", path: "/v1/media", file: text }, SERVICE);
      expect(argumentsOf(command).at(-1)).to.equal(`@${text.replaceAll("\n", "?")}`);
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
    expect(JSON.parse(argumentsOf(command).at(-1) ?? "")).to.deep.equal(body);
  });
});
