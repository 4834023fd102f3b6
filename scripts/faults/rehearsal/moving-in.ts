import { createServer, type Server } from "node:http";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { randomBytes } from "node:crypto";
import { tmpdir } from "node:os";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

import { getAddress, type JsonRpcSigner, NonceManager } from "ethers";

import { WizardERC1155__factory } from "../../../types/ethers-contracts/factories/mocks/WizardERC1155__factory.ts";
import { WizardERC721__factory } from "../../../types/ethers-contracts/factories/mocks/WizardERC721__factory.ts";
import { waitFor } from "../../scene/until.ts";
import { World } from "../world.ts";
import { type Finding, require } from "./production.ts";

/** Tokens of each contract, and holders of each. */
const [TOKENS, HOLDERS] = [10_000, 5_000];
/** Holders that get their tokens in one transaction. */
const AT_ONCE = 200;
/** Milliseconds within which a contract must be read, and an event be there. */
const TIMEOUT = 600_000;

/** What the command line prints with `--json`. */
interface Rescued {
  tokens: number;
  served: number;
  problems: Record<string, number>;
  call: { to: string; data: string };
}

interface Contract {
  type: "ERC721" | "ERC1155";
  address: string;
}

/**
 * A team moves in: contracts of the shape of OpenZeppelin's Wizard with their tokens and holders, and metadata and pictures at a
 * server that is switched off at the end.
 */
export async function rehearseMovingIn(): Promise<Finding[]> {
  const world = await World.alone({ engine: "sqlite", settings: { MAX_FOREIGN_LOGS: "100000" } });
  const host = new OldHost();
  const folder = mkdtempSync(join(tmpdir(), "moneta-moving-in-"));
  try {
    await host.listen();
    const owner = await world.node.provider.getSigner(3);
    const holders = Array.from({ length: HOLDERS }, () => getAddress(`0x${randomBytes(20).toString("hex")}`));
    const contracts = await deploy(owner, holders, host.url);
    const move = new Move({ world, owner, folder, holders, contracts });
    await move.adopt();
    const rescued = await move.rescue();
    await move.switchOff(rescued, host);
    await move.addUsers();
    await move.useLists();
    await move.moveToken();
    return move.seen;
  } finally {
    await host.close();
    await world.stop(false);
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Team {
  world: World;
  owner: JsonRpcSigner;
  folder: string;
  holders: readonly string[];
  contracts: readonly Contract[];
}

/** The steps of the move, with what each showed. */
class Move {
  readonly #team: Team;
  readonly seen: Finding[] = [];

  constructor(team: Team) {
    this.#team = team;
  }

  /** @param words what the result says; throws when it is wrong. */
  async #step<T>(what: string, work: () => Promise<T>, words: (result: T) => string): Promise<T> {
    const began = performance.now();
    const result = await work();
    this.seen.push({ what, result: `${((performance.now() - began) / 1_000).toFixed(1)} s; ${words(result)}` });
    return result;
  }

  async #cli<T>(...words: string[]): Promise<T> {
    return JSON.parse(await this.#team.world.service.cli(...words, "--json")) as T;
  }

  async adopt(): Promise<void> {
    const { contracts, world } = this.#team;
    for (const { type, address } of contracts)
      await this.#step(
        `collection adopt: ${type} with ${TOKENS.toString()} tokens and ${HOLDERS.toString()} holders`,
        () => this.#cli<{ state: string }>("collection", "adopt", address, "--app", world.app.appId, "--allow"),
        ({ state }) => {
          require(state === "followed", `${address} is ${state}`);
          return "read to its end";
        },
      );
  }

  async rescue(): Promise<Rescued[]> {
    const rescued: Rescued[] = [];
    for (const { type, address } of this.#team.contracts) {
      const place = join(this.#team.folder, type);
      const work = () => this.#cli<Rescued>("collection", "rescue", address, "--folder", place);
      rescued.push(
        await this.#step(`collection rescue: ${type}`, work, ({ tokens, served, problems }) => {
          require(served === TOKENS, `${served.toString()} of ${tokens.toString()}: ${JSON.stringify(problems)}`);
          return `${served.toString()} of ${tokens.toString()} tokens are served here`;
        }),
      );
    }
    return rescued;
  }

  switchOff(rescued: readonly Rescued[], host: OldHost): Promise<unknown> {
    const work = async () => {
      for (const { call } of rescued)
        await (await this.#team.owner.sendTransaction({ to: call.to, data: call.data })).wait();
      await host.close();
      const { findings } = await this.#cli<{ findings: { check: string; result: string }[] }>("doctor");
      return findings.filter(({ check }) => check === "rescued");
    };
    return this.#step("the owner sets the base URIs, and the old host is switched off", work, (findings) => {
      require(findings.every(({ result }) => result === "ok"), JSON.stringify(findings));
      return "doctor: the contracts name what is served";
    });
  }

  addUsers(): Promise<unknown> {
    const { folder, holders, world } = this.#team;
    const file = join(folder, "users.csv");
    writeFileSync(file, holders.map((address, index) => `user-${index.toString()},${address}\n`).join(""));
    const work = () => this.#cli<unknown>("wallets", "adopt", file, "--app", world.app.appId);
    return this.#step(`wallets adopt: ${HOLDERS.toString()} users`, work, () => "watch-only wallets");
  }

  useLists(): Promise<unknown> {
    const { world, holders } = this.#team;
    const work = async () => {
      const path = `/v1/accounts/${holders[0] ?? ""}`;
      const { nfts } = (await world.client.ok("GET", path)) as { nfts: { token_uri: string }[] };
      const base = world.service.apiUrls[0] ?? "";
      for (const { token_uri: uri } of nfts) {
        const { image } = (await (await fetch(base + new URL(uri).pathname)).json()) as { image: string };
        const { status } = await fetch(`${base}/ipfs/${image.replace("ipfs://", "")}`);
        require(status === 200, `the picture ${image} is answered with ${status.toString()}`);
      }
      return nfts.length;
    };
    return this.#step("lists and pictures", work, (count) => {
      require(count === (2 * TOKENS) / HOLDERS, `the first user has ${count.toString()} tokens`);
      return `the first user has ${count.toString()} tokens, with metadata and pictures`;
    });
  }

  moveToken(): Promise<unknown> {
    const { world, owner, holders, contracts } = this.#team;
    const work = async () => {
      const contract = WizardERC721__factory.connect(contracts[0]?.address ?? "", owner);
      await (await contract.mint(holders[0] ?? "", 1)).wait();
      const find = async () => {
        const path = "/v1/events?types=token.minted,token.received&after=start";
        const { events } = (await world.client.ok("GET", path)) as { events: { to_user: string | null }[] };
        return events.length === 0 ? null : events;
      };
      return waitFor("the event", find, { within: TIMEOUT, every: 100 });
    };
    return this.#step("an event of a token that moves", work, (events) => {
      require(events.length === 1 && events[0]?.to_user === "user-0", JSON.stringify(events));
      return "with the user's name; what was read back made none";
    });
  }
}

/** Deploys both contracts, and gives their tokens to the holders. */
async function deploy(owner: JsonRpcSigner, holders: readonly string[], url: string): Promise<Contract[]> {
  const signer = new NonceManager(owner);
  const single = await (await new WizardERC721__factory(signer).deploy(owner.address, 0)).waitForDeployment();
  const copies = await (await new WizardERC1155__factory(signer).deploy(owner.address)).waitForDeployment();
  const share = TOKENS / HOLDERS;
  for (let at = 0; at < holders.length; at += AT_ONCE) {
    const some = holders.slice(at, at + AT_ONCE);
    const sent = [await single.mintEach(some, share), await copies.mintEach(some, share, at * share)];
    for (const transaction of sent) await transaction.wait();
  }
  await (await single.setBaseURI(`${url}/721/`)).wait();
  await (await copies.setURI(`${url}/1155/{id}.json`)).wait();
  return [
    { type: "ERC721", address: await single.getAddress() },
    { type: "ERC1155", address: await copies.getAddress() },
  ];
}

/** A picture, which differs for each token. */
function pictureOf(id: string): string {
  const colour = (Number(BigInt(id) % 0xff_ff_ffn) * 7_919) % 0xff_ff_ff;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><rect width="8" height="8" fill="#${colour.toString(16).padStart(6, "0")}"/></svg>`;
}

/** The server of the host that closes. */
class OldHost {
  readonly #server: Server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "", this.url);
    const [, kind = "", file = ""] = /^\/(\w+)\/(?:0x)?([0-9a-f]+)/.exec(pathname) ?? [];
    const id = kind === "1155" ? BigInt(`0x${file}`).toString() : file;
    if (kind === "pictures") response.setHeader("Content-Type", "image/svg+xml").end(pictureOf(file));
    else if (file === "") response.writeHead(404).end();
    else {
      const metadata = { name: `Token ${id}`, image: `${this.url}/pictures/${id}.svg`, house: "the old host" };
      response.setHeader("Content-Type", "application/json").end(JSON.stringify(metadata));
    }
  });

  get url(): string {
    const { port } = this.#server.address() as AddressInfo;
    return `http://127.0.0.1:${port.toString()}`;
  }

  async listen(): Promise<void> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
  }

  async close(): Promise<void> {
    if (!this.#server.listening) return;
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }
}
