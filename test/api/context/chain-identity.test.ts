import { expect } from "chai";

import { ChainClient } from "../../../api/chain/client.ts";
import { blockPollOf, warnOfWrongBase } from "../../../api/context/chain-identity.ts";
import { useService } from "../../support/use-service.ts";

describe("a service that starts", () => {
  const moneta = useService();

  async function warningsAt(hostedBase: string): Promise<string[]> {
    const warnings: string[] = [];
    const logger = { warn: (text: string) => void warnings.push(text) };
    const client = new ChainClient(moneta.node.url);
    await warnOfWrongBase(client, moneta.service.contracts, { hostedBase, logger });
    return warnings;
  }

  it("logs one warning when PUBLIC_URL is another one than that of the hosted tokens", async () => {
    const [warning = "", ...others] = await warningsAt("https://wrong.example/metadata/");
    const [, base = ""] =
      /^Hosted tokens point at (\S+), but PUBLIC_URL gives https:\/\/wrong\.example\/metadata\/\. Correct PUBLIC_URL/.exec(
        warning,
      ) ?? [];
    expect(others).to.deep.equal([]);
    expect(base).to.match(/\/metadata\/$/);
    expect(await warningsAt(base)).to.deep.equal([]);
  });
});

describe("blockPollOf", () => {
  it("is a second, less on a local chain, and what the setting says on both", () => {
    expect(blockPollOf({ blockPollSeconds: null }, false)).to.equal(1_000);
    expect(blockPollOf({ blockPollSeconds: null }, true)).to.equal(100);
    expect(blockPollOf({ blockPollSeconds: 12 }, true)).to.equal(12_000);
  });
});
