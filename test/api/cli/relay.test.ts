import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect } from "chai";
import { parseEther, Wallet } from "ethers";

import { deployerKeyOf } from "../../../api/keys/keyring.ts";
import { newSeedPhrase, writeSeedFile } from "../../../api/keys/seed-file.ts";
import { Relay__factory } from "../../../contracts/generated/factories/Relay__factory.ts";
import { ANVIL_KEY } from "../../support/node.ts";
import { useFolder } from "../../support/use-folder.ts";
import { useService } from "../../support/use-service.ts";
import { rejectionOf } from "../../support/rejection.ts";
import { jsonOfCli, runCli } from "./support/run.ts";

const OPERATOR = "0x00000000000000000000000000000000000000A1";
const PASSPHRASE = "correct horse battery staple";

interface Printed {
  relay: string;
  owner: string;
  paused: boolean;
  operators: { address: string; balance_wei: string }[];
  sent: { call: string; transaction_hash: string; block_number: number }[];
  to_do: { call: string; to: string; data: string }[];
}

describe("command line: relay", () => {
  const moneta = useService();
  const folder = useFolder();
  let phrase: string;

  before(() => {
    phrase = newSeedPhrase();
  });

  /** Deploys a relay. @returns its address. */
  async function relayOf(owner: string): Promise<string> {
    const signer = await moneta.provider.getSigner(0);
    const relay = await new Relay__factory(signer).deploy(owner, "http://localhost/");
    await relay.waitForDeployment();
    return relay.getAddress();
  }
  const at = (relay: string) => Relay__factory.connect(relay, moneta.provider);
  const env = (more: Record<string, string> = {}) => ({
    RPC_URL: moneta.env["RPC_URL"] ?? "",
    DATA_DIR: folder.path,
    DEPLOYMENTS_DIR: folder.path,
    ...more,
  });

  it("pauses the relay, changes operators and cancels numbers, signed by the account that init made from the seed", async () => {
    await writeSeedFile(join(folder.path, "seed.jwe"), phrase, PASSPHRASE);
    const owner = new Wallet(deployerKeyOf(phrase)).address;
    await moneta.fund(owner, parseEther("1"));
    const relay = await relayOf(owner);
    const own = env({ SEED_PASSPHRASE: PASSPHRASE });
    const run = (...words: string[]) => jsonOfCli<Printed>(own, "relay", ...words, "--relay", relay);

    const paused = await run("pause");
    expect(paused).to.deep.include({ relay, owner, paused: true, to_do: [] });
    expect(paused.sent.map(({ call }) => call)).to.deep.equal(["pause()"]);
    const added = await run("add-operator", OPERATOR, OPERATOR.replace("A1", "A2"));
    expect(added.operators.map(({ address }) => address)).to.have.length(2);
    expect(added.sent).to.have.length(2);
    expect((await run("remove-operator", OPERATOR)).operators).to.have.length(1);
    await run("cancel", "12", "13");
    expect(await at(relay).isConsumed(13)).to.equal(true);
    expect((await run("unpause")).paused).to.equal(false);
    // It reads: it needs no key.
    const { output } = await runCli(env(), "relay", "status", "--relay", relay);
    expect(output)
      .to.match(/state {5}not paused/)
      .and.to.include(`owner     ${owner}`);
  });

  it("takes the owner's key from DEPLOYER_PRIVATE_KEY, or from a file", async () => {
    const relay = await relayOf(new Wallet(ANVIL_KEY).address);
    const file = join(folder.path, "key");
    await writeFile(file, `${ANVIL_KEY}\n`, { mode: 0o600 });
    await runCli(env({ DEPLOYER_PRIVATE_KEY: ANVIL_KEY }), "relay", "pause", "--relay", relay);
    expect(await at(relay).paused()).to.equal(true);
    await runCli(env(), "relay", "unpause", "--relay", relay, "--key-file", file);
    expect(await at(relay).paused()).to.equal(false);
    await writeFile(file, "0x12");
    const words = ["relay", "pause", "--relay", relay, "--key-file", file] as const;
    expect((await rejectionOf(runCli(env(), ...words))).message).to.match(/is not a private key/);
  });

  it("prints what another owner must send, sends nothing, and fails", async () => {
    const relay = await relayOf(OPERATOR);
    const { output, failed } = await runCli(
      env({ DEPLOYER_PRIVATE_KEY: ANVIL_KEY }),
      "relay",
      "pause",
      "--relay",
      relay,
    );
    expect(failed).to.equal(true);
    expect(output).to.include(`the owner ${OPERATOR} must send to ${relay}: pause()`);
    expect(output).to.include(at(relay).interface.encodeFunctionData("pause"));
    expect(await at(relay).paused()).to.equal(false);
  });

  it("finds the relay in the deployment file, and says what is missing", async () => {
    const refusal = async (...words: string[]) => (await rejectionOf(runCli(env(), "relay", ...words))).message;
    expect(await refusal("status")).to.match(/31337\.json is missing: pass --relay <address>/);
    expect(await refusal("status", "--relay", OPERATOR)).to.include(`There is no contract at ${OPERATOR}`);
    expect(await refusal("status", "--relay", "0x12")).to.equal("--relay: 0x12 is not an address.");
    expect(await refusal("cancel", "seven")).to.match(/^seven is not a request number/);
    expect(await refusal("cancel", (2n ** 256n).toString())).to.match(/is not a request number/);
    expect(await refusal("remove-operator", "0x12")).to.match(/^0x12 is not an address/);

    const relay = await relayOf(OPERATOR);
    const others = { factory: relay, delegate: relay, erc721Implementation: relay, erc1155Implementation: relay };
    await writeFile(join(folder.path, "31337.json"), JSON.stringify({ relay, ...others, deployedAt: 1 }));
    expect((await jsonOfCli<Printed>(env(), "relay", "status")).relay).to.equal(relay);
  });
});
