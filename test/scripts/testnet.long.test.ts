import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { expect } from "chai";
import { parseEther, Wallet } from "ethers";

import { ERC721Collection__factory } from "../../contracts/generated/factories/ERC721Collection__factory.ts";
import { Relay__factory } from "../../contracts/generated/factories/Relay__factory.ts";
import { ApiClient } from "../support/api-client.ts";
import { eventually } from "../support/eventually.ts";
import { freePort } from "../../scripts/scene/loopback.ts";
import { ANVIL_KEY } from "../support/node.ts";
import { TestProcess } from "../support/process.ts";
import { useAnvil } from "../support/use-anvil.ts";
import { useFolder } from "../support/use-folder.ts";
import { createAppIn } from "../../scripts/scene/scene.ts";

describe("the service on a chain that is not local (84532, Anvil)", () => {
  const node = useAnvil(84_532);
  const folder = useFolder({ per: "block" });
  let env: Record<string, string>;
  let baseUrl: string;
  let deployer: Wallet;
  let lanes: string[];

  const api = (more: Record<string, string> = {}) => new TestProcess(["api/main.ts"], { ...env, ...more });
  const cli = (...args: string[]) => new TestProcess(["api/cli/main.ts", ...args], env);
  const readiness = async () => (await (await fetch(`${baseUrl}/readyz`)).json()) as { checks: Record<string, string> };

  before(async () => {
    deployer = new Wallet(ANVIL_KEY, node.provider);
    const port = await freePort();
    baseUrl = `http://127.0.0.1:${port.toString()}`;
    env = {
      PORT: port.toString(),
      RPC_URL: node.url,
      BASE_SEPOLIA_RPC_URL: node.url,
      DEPLOYER_PRIVATE_KEY: ANVIL_KEY,
      PUBLIC_URL: baseUrl,
      DATA_DIR: folder.path,
      DEPLOYMENTS_DIR: join(folder.path, "deployments"),
      SEED_FILE: join(folder.path, "seed.jwe"),
      SEED_PASSPHRASE: "correct horse battery staple",
      SECRET_KEYS: randomBytes(32).toString("base64"),
      LANES: "2",
      CONFIRMATIONS: "2",
    };
  });

  it("refuses to start without contracts, and says how to get them", async () => {
    const refused = api();
    expect(await refused.gone()).to.equal(1);
    expect(refused.output).to.match(/There are no contracts for chain 84532: .*npm run deploy -- --network <name>/);
  });

  it("refuses to start without keys, naming each that is missing", async () => {
    const deployed = new TestProcess(
      ["node_modules/hardhat/dist/src/cli.js", "deploy", "--network", "baseSepolia", "--operators", deployer.address],
      env,
    );
    expect(await deployed.gone(), deployed.output).to.equal(0);
    const refused = api({ SEED_PASSPHRASE: "", SECRET_KEYS: "" });
    expect(await refused.gone()).to.equal(1);
    for (const name of ["SEED_FILE", "SEED_PASSPHRASE", "SECRET_KEYS"]) expect(refused.output).to.contain(`- ${name}`);
  });

  it("names at start an operator that the relay does not know, then a lane without funds", async () => {
    const created = cli("keys", "create", "--json");
    expect(await created.gone(), created.output).to.equal(0);
    const made = JSON.parse(created.output.slice(created.output.indexOf("{"))) as { lanes: string[] };
    lanes = made.lanes;
    const running = api();
    await running.printed(/"msg":"serving"/);
    for (const lane of lanes) await running.printed(new RegExp(`does not know operator ${lane}`));
    const failing = async () => Object.values((await readiness()).checks).filter((word) => word !== "ok");
    await eventually(async () => ((await failing()).length === 2 ? true : undefined));

    const { relay } = JSON.parse(await readFile(join(env["DEPLOYMENTS_DIR"] ?? "", "84532.json"), "utf8")) as {
      relay: string;
    };
    for (const lane of lanes) await (await Relay__factory.connect(relay, deployer).setOperator(lane, true)).wait();
    for (const lane of lanes) await running.printed(new RegExp(`lane ${lane} has no funds`));

    for (const lane of lanes) await (await deployer.sendTransaction({ to: lane, value: parseEther("1") })).wait();
    await eventually(async () => ((await failing()).length === 0 ? true : undefined));
    expect(await running.end("SIGTERM")).to.equal(0);
  });

  it("does the main job", async () => {
    const running = api();
    await running.printed(/"msg":"serving"/);
    const { token } = await createAppIn(`file:${folder.path}/moneta.sqlite`, "testnet");
    const app = ApiClient.at(baseUrl, token);
    const [alice, bob] = [await app.wallet(), await app.wallet()];
    const collection = await app.collection({ type: "ERC721", mint_supply_count: 100 });
    const mints = await Promise.all(
      Array.from({ length: 100 }, () => app.accept("/v1/nfts", { collection_address: collection, to_address: alice })),
    );
    const minted = await Promise.all(mints.map((id) => app.settled(id)));
    expect(minted.map((request) => request.status)).to.deep.equal(Array(100).fill("completed"));
    await app.completed("/v1/transfers", {
      from_address: alice,
      to_address: bob,
      contract_address: collection,
      token_id: 7,
    });
    expect(await ERC721Collection__factory.connect(collection, node.provider).ownerOf(7)).to.equal(bob);

    expect(await running.end("SIGTERM")).to.equal(0);
  });
});
