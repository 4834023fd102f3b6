import { expect } from "chai";
import { AbiCoder } from "ethers";

import type { Deployment } from "../../../../api/chain/contracts.ts";
import {
  type DeployedSource,
  PATIENCE,
  type Verification,
  VerifierFailed,
  verifiersOf,
} from "../../../../api/operate/deploy/verifiers.ts";
import { verifySources } from "../../../../api/operate/deploy/verify.ts";
import { rejectionOf } from "../../../support/rejection.ts";
import { type Answer, type Asked, VerifierServer } from "./verifier-server.ts";

const QUICK = { ...PATIENCE, timeout: 5_000, firstWait: 1, poll: 1, polls: 5 };
const SOURCE: DeployedSource = {
  address: "0x5FbDB2315678afecb367f032d93F642f64180aa3",
  identifier: "project/contracts/Relay.sol:Relay",
  constructorArguments: "00ff",
  compiler: "0.8.37+commit.f401782d",
  input: { language: "Solidity", sources: { "a.sol": { content: "contract A {}" } }, settings: {} },
};
const KEY = "SECRETKEY";

/** Answers as the documents of both services say. */
describe("verifiers", () => {
  const server = new VerifierServer();
  let answer: (asked: Asked, count: number) => Answer;

  before(() => server.open());
  beforeEach(() => {
    server.asked = [];
    server.intercept = (asked) => answer(asked, server.asked.length);
  });
  after(() => server.close());

  const verify = (title: "Sourcify" | "Etherscan", chainId = 84_532n): Promise<Verification> => {
    const settings = { sourcifyUrl: server.url, etherscanUrl: `${server.url}/v2/api`, etherscanKey: KEY };
    const found = verifiersOf(chainId, settings, QUICK).verifiers.find((one) => one.title === title);
    if (found === undefined) throw new Error(`no ${title}`);
    return found.verify(SOURCE);
  };
  const failureOf = async (verification: Promise<Verification>): Promise<string> => {
    const error = await rejectionOf(verification);
    expect(error).to.be.instanceOf(VerifierFailed);
    return error.message;
  };

  describe("Sourcify", () => {
    const ID = "72d12273-0723-448e-a9f6-f7957128efa5";
    const contract = (match: string | null) => ({ match, creationMatch: null, runtimeMatch: match, chainId: "84532" });
    const job = (more: object) => ({ isJobCompleted: true, verificationId: ID, jobStartTime: "2026-01-01", ...more });

    it("gets the standard JSON input, and is asked until its job is complete", async () => {
      answer = ({ method }, count) => {
        if (method === "POST") return { status: 202, body: { verificationId: ID } };
        return { body: job({ isJobCompleted: count > 3, contract: contract(count > 3 ? "match" : null) }) };
      };
      expect(await verify("Sourcify")).to.deep.equal({ verified: true, words: "verified (match)" });
      expect(server.asked.map(({ method, url }) => `${method} ${url.pathname}`)).to.deep.equal([
        `POST /v2/verify/84532/${SOURCE.address}`,
        ...Array<string>(3).fill(`GET /v2/verify/${ID}`),
      ]);
      expect(JSON.parse(server.asked[0]?.body ?? "")).to.deep.equal({
        stdJsonInput: SOURCE.input,
        compilerVersion: SOURCE.compiler,
        contractIdentifier: SOURCE.identifier,
      });
    });

    it("says why it refuses, on one line, and that it knows a contract already", async () => {
      const error = { customCode: "no_match", message: "The bytecodes\ndon't\u001b[31m match.", errorId: "1" };
      answer = ({ method }) =>
        method === "POST"
          ? { status: 202, body: { verificationId: ID } }
          : { body: job({ contract: contract(null), error }) };
      expect(await verify("Sourcify")).to.deep.equal({ verified: false, words: "The bytecodes don't [31m match." });
      answer = () => ({ status: 409, body: { customCode: "already_verified", message: "m", errorId: "1" } });
      expect(await verify("Sourcify")).to.deep.equal({ verified: true, words: "was verified before" });
    });

    it("is asked again while it is overloaded, but not for ever", async () => {
      answer = (_one, count) =>
        count < 3 ? { status: 503, body: "" } : { status: 409, body: { customCode: "already_verified", message: "" } };
      expect((await verify("Sourcify")).verified).to.equal(true);
      server.asked = [];
      answer = () => ({ status: 429, body: "" });
      expect(await failureOf(verify("Sourcify"))).to.equal(
        "Sourcify answers with status 429. Run the same command again later.",
      );
      expect(server.asked).to.have.length(PATIENCE.tries);
    });

    for (const [what, body] of Object.entries({
      "something else than JSON": "<html>",
      "another document": { hello: "world" },
      "an endless answer": `"${"x".repeat(2_000_000)}"`,
      "an id that leads elsewhere": { verificationId: "../../admin" },
    })) {
      it(`fails in a sentence after ${what}`, async () => {
        answer = () => ({ body });
        expect(await failureOf(verify("Sourcify"))).to.match(/^Sourcify .*as documented/);
        expect(server.asked).to.have.length(1);
      });
    }

    it("fails in a sentence when it never finishes", async () => {
      answer = ({ method }) =>
        method === "POST"
          ? { status: 202, body: { verificationId: ID } }
          : { body: job({ isJobCompleted: false, contract: contract(null) }) };
      expect(await failureOf(verify("Sourcify"))).to.match(/^Sourcify has not finished in time\./);
      expect(server.asked).to.have.length(1 + QUICK.polls);
    });
  });

  describe("Etherscan", () => {
    const said = (status: "0" | "1", result: string) => ({
      body: { status, message: status === "1" ? "OK" : "NOTOK", result },
    });

    it("gets the form that its API V2 documents, and is asked until the queue has come to it", async () => {
      answer = ({ method }, count) => {
        if (method === "POST") return said("1", "guid1");
        return count > 2 ? said("1", "Pass - Verified") : said("0", "Pending in queue");
      };
      expect(await verify("Etherscan")).to.deep.equal({ verified: true, words: "verified" });
      const [sent, status] = server.asked;
      expect(Object.fromEntries(sent?.url.searchParams ?? [])).to.deep.equal({
        chainid: "84532",
        module: "contract",
        action: "verifysourcecode",
        apikey: KEY,
      });
      expect(Object.fromEntries(new URLSearchParams(sent?.body))).to.deep.equal({
        codeformat: "solidity-standard-json-input",
        sourceCode: JSON.stringify(SOURCE.input),
        contractaddress: SOURCE.address,
        contractname: SOURCE.identifier,
        compilerversion: `v${SOURCE.compiler}`,
        constructorArguments: "00ff",
      });
      expect(status?.url.searchParams.get("action")).to.equal("checkverifystatus");
      expect(status?.url.searchParams.get("guid")).to.equal("guid1");
    });

    it("says why it refuses, and that it knows a contract already", async () => {
      answer = () => said("0", "Invalid API Key");
      expect(await failureOf(verify("Etherscan"))).to.equal("Etherscan: Invalid API Key");
      answer = ({ method }) => (method === "POST" ? said("1", "g") : said("0", "Fail - Unable to verify"));
      expect(await verify("Etherscan")).to.deep.equal({ verified: false, words: "Fail - Unable to verify" });
      answer = () => said("0", "Contract source code already verified");
      expect((await verify("Etherscan")).verified).to.equal(true);
    });

    it("never shows its key, which is in the URL", async () => {
      answer = () => ({ status: 500, body: "" });
      expect(await failureOf(verify("Etherscan"))).to.not.contain(KEY);
    });
  });

  it("get each contract of a deployment with the arguments of its constructor", async () => {
    const [relay, erc721Implementation, erc1155Implementation, address, delegate, owner] = Array.from(
      { length: 6 },
      (_, index) => `0x${index.toString().padStart(40, "0")}`,
    ) as [string, string, string, string, string, string];
    const hostedBase = "https://a.example";
    const sent = new Map<string, string>();
    const noted = (source: DeployedSource) => {
      sent.set(source.address, source.constructorArguments);
      return Promise.resolve({ verified: true, words: "" });
    };
    const factory = {
      address,
      erc721Implementation,
      erc1155Implementation,
      storage: "compact",
      signedBurns: true,
    } as const;
    const deployment: Deployment = { relay, factories: [factory], delegate, deployedAt: 1 };
    await verifySources(
      [{ title: "one", verify: noted, verifyClone: () => Promise.reject(new Error("not asked")) }],
      deployment,
      { owner, hostedBase },
      () => undefined,
    );
    const encode = (types: string[], values: string[]) => AbiCoder.defaultAbiCoder().encode(types, values).slice(2);
    expect(sent.get(relay)).to.equal(encode(["address", "string"], [owner, hostedBase]));
    expect(sent.get(delegate)).to.equal(encode(["address"], [relay]));
    expect(sent.get(address)).to.equal(
      encode(["address", "address", "address"], [relay, erc721Implementation, erc1155Implementation]),
    );
  });

  it("are those of the chain's table; without a key, Etherscan is left out and named", () => {
    const settings = { sourcifyUrl: "http://a", etherscanUrl: "http://b", etherscanKey: null };
    const titles = (chainId: bigint, etherscanKey: string | null) => {
      const { verifiers, missing } = verifiersOf(chainId, { ...settings, etherscanKey });
      return [verifiers.map(({ title }) => title).join(), missing.length];
    };
    expect(titles(1n, KEY)).to.deep.equal(["Sourcify,Etherscan", 0]);
    expect(titles(1n, null)).to.deep.equal(["Sourcify", 1]);
    expect(titles(10_200n, KEY)).to.deep.equal(["Sourcify", 0]);
    expect(titles(987_654n, KEY)).to.deep.equal(["Sourcify,Etherscan", 0]);
  });
});
