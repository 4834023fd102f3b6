import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { computeAddress, type JsonRpcSigner } from "ethers";

import { WizardERC721__factory } from "../../../types/ethers-contracts/factories/mocks/WizardERC721__factory.ts";
import { LimitedProvider } from "../../scene/limited-provider.ts";
import { NodeProcess } from "../../scene/node.ts";
import { residentOf, resetPeak } from "../../scene/resident.ts";
import { until, waitFor } from "../../scene/until.ts";
import type { Engine } from "../options.ts";
import { World } from "../world.ts";
import { atLeast, grownBy, type Kill, secondsOf } from "./commands.ts";
import { compareFolder, compareHolders, compareServed, compareUsers } from "./compare-move.ts";
import { BeforeSweep, type Sweep } from "./compare-sweep.ts";
import { CountingNode } from "./counting-node.ts";
import { Installation } from "./installation.ts";
import { OldHost } from "./old-host.ts";
import { type Finding, require } from "./production.ts";
import { type Contract, deployWizards, letMint, type Size } from "./wizards.ts";

interface MoveOptions {
  engine: Engine;
  /** Kills the working process in the middle of each step, and continues by the same command. */
  kills: boolean;
  /** Measures the memory and the calls of so many tokens of one contract; null: the usual move. */
  tokens: number | null;
}

const USUAL: Size = { tokens: 10_000, holders: 5_000, atOnce: 200, types: ["ERC721", "ERC1155"] };
const WITH_KILLS: Size = { tokens: 1_200, holders: 1_200, atOnce: 12, types: ["ERC721", "ERC1155"] };
/** With kills: blocks in which the node searches at once, and milliseconds that it takes, so that reading a contract takes some seconds. */
const [BLOCKS, SLOW] = [4, 50];
/** Milliseconds within which an event must be there. */
const TIMEOUT = 600_000;

/** Tokens that are minted into each contract, and the first of their ids. */
const [NEW_TOKENS, FIRST_NEW] = [250, 1_000_000_000];

/** What the command line prints with `--json`. */
interface Rescued {
  tokens: number;
  served: number;
  problems: Record<string, number>;
  call: { to: string; data: string };
}

interface Team {
  options: MoveOptions;
  size: Size;
  world: World;
  host: OldHost;
  node: CountingNode;
  home: Installation;
  heir: Installation;
  owner: JsonRpcSigner;
  folder: string;
  holders: readonly string[];
  /** Their private keys, which the old host hands out. */
  keys: readonly string[];
  contracts: readonly Contract[];
  /** Called with what a step showed, when it has ended. */
  report: (finding: Finding) => void;
}

/**
 * A team moves in: contracts of the shape of OpenZeppelin's Wizard with their tokens and holders, and metadata and pictures at a
 * server that is switched off at the end. Then it moves on to another installation.
 */
export async function rehearseMovingIn(options: MoveOptions, report: (finding: Finding) => void): Promise<void> {
  const { engine, kills, tokens } = options;
  await using opened = new AsyncDisposableStack();
  const usual = kills ? WITH_KILLS : USUAL;
  const size: Size = tokens === null ? usual : { ...USUAL, tokens, holders: tokens / 2, types: ["ERC721"] };
  const settings = { MAX_FOREIGN_LOGS: "100000" };
  const world = await World.alone({ engine, settings, node: () => NodeProcess.underLoad() });
  opened.defer(() => world.stop(false));
  const limited = await LimitedProvider.start(world.node.url, kills ? { blocks: BLOCKS } : {});
  opened.defer(() => limited.stop());
  const node = await CountingNode.start(kills ? limited.url : world.node.url, kills ? SLOW : 0);
  opened.defer(() => node.stop());
  const host = new OldHost();
  await host.listen();
  opened.defer(() => host.close());
  const folder = mkdtempSync(join(tmpdir(), "moneta-moving-in-"));
  opened.defer(() => rmSync(folder, { recursive: true, force: true }));
  const owner = await world.node.provider.getSigner(3);
  const keys = Array.from({ length: size.holders }, () => `0x${randomBytes(32).toString("hex")}`);
  const holders = keys.map((key) => computeAddress(key));
  const contracts = await deployWizards(owner, size, holders, host.url);
  const home = await Installation.of(world, node.url);
  opened.defer(() => home.records.close());
  const heir = await Installation.beside(world, node.url, engine);
  opened.defer(() => heir.stop());
  const move = new Move({
    options,
    size,
    world,
    host,
    node,
    home,
    heir,
    owner,
    folder,
    holders,
    keys,
    contracts,
    report,
  });
  await move.adopt();
  const rescued = await move.rescue();
  await move.switchOff(rescued);
  await move.addUsers();
  await move.useLists();
  await move.moveToken();
  await move.mint();
  await move.importKeys();
  await move.sweep();
  await move.compare(home);
  const exported = await move.leave();
  await move.arrive(exported);
  await move.compare(heir);
}

/** The steps of the move. */
class Move {
  readonly #team: Team;
  /** The wallets of the users, in their order. */
  readonly #wallets: string[];

  constructor(team: Team) {
    this.#team = team;
    this.#wallets = [...team.holders];
  }

  /** @param words what the result says; throws when it is wrong. */
  async #step<T>(what: string, work: () => Promise<T>, words: (result: T) => string, at = this.#team.home): Promise<T> {
    const { options, node } = this.#team;
    const { commands, service } = at;
    const kills = commands.kills;
    node.calls = new Map();
    [commands.peak, commands.cpu] = [0, 0];
    await resetPeak(service.only.pid);
    const used = await secondsOf(service.only.pid);
    const began = performance.now();
    const result = await work();
    const seconds = ((performance.now() - began) / 1_000).toFixed(1);
    const killed = options.kills ? `${(commands.kills - kills).toString()} kills; ` : "";
    const measured = options.tokens === null ? "" : await this.#measured(at, used ?? 0);
    this.#team.report({ what, result: `${seconds} s; ${killed}${words(result)}${measured}` });
    return result;
  }

  /** @param used seconds of the processors that the service had used before. */
  async #measured({ service, commands }: Installation, used: number): Promise<string> {
    const cpu = ((await secondsOf(service.only.pid)) ?? 0) - used;
    const { peak = 0 } = (await residentOf(service.only.pid)) ?? {};
    const calls = [...this.#team.node.calls].sort(([, some], [, more]) => more - some);
    const counts = calls.map(([method, count]) => `${count.toString()} ${method}`).join(", ");
    return `; memory: service ${peak.toFixed(0)} MiB, command ${commands.peak.toFixed(0)} MiB; CPU: service ${cpu.toFixed(0)} s, command ${commands.cpu.toFixed(0)} s; calls: ${counts}`;
  }

  /** These kills, in a rehearsal with kills. */
  #kills(...kills: Kill[]): Kill[] {
    return this.#team.options.kills ? kills : [];
  }

  async adopt(): Promise<void> {
    const { contracts, home, size } = this.#team;
    const { tokens, holders } = size;
    for (const { type, address } of contracts) {
      const stored = () => home.tokens(address);
      const wasWorking = () => home.isReading(address);
      const kills = this.#kills(
        { whom: "service", begin: atLeast(tokens / 4, stored), wasWorking },
        { whom: "service", begin: atLeast(tokens / 2, stored), wasWorking },
        { whom: "command", begin: atLeast((3 * tokens) / 4, stored) },
      );
      const words = ["collection", "adopt", address, "--app", home.appId, "--allow"];
      await this.#step(
        `collection adopt: ${type} with ${tokens.toString()} tokens and ${holders.toString()} holders`,
        () => home.commands.run<{ state: string }>(words, kills),
        ({ state }) => {
          require(state === "followed", `${address} is ${state}`);
          return "read to its end";
        },
      );
    }
  }

  async rescue(): Promise<Rescued[]> {
    const { contracts, home, host, node, size, folder } = this.#team;
    const rescued: Rescued[] = [];
    const some = size.tokens / 10;
    const uris = grownBy(3, () => node.uris);
    const metadata = grownBy(some, () => host.served.metadata);
    const pictures = grownBy(some, () => host.served.pictures);
    for (const { type, address } of contracts) {
      const kills = this.#kills(
        ...[uris, metadata, pictures, uris].map((begin) => ({ whom: "command" as const, begin })),
        { whom: "service", begin: metadata },
      );
      const words = ["collection", "rescue", address, "--folder", join(folder, type)];
      const work = () => home.commands.run<Rescued>(words, kills);
      rescued.push(
        await this.#step(`collection rescue: ${type}`, work, ({ tokens, served, problems }) => {
          require(served === size.tokens, `${served.toString()} of ${tokens.toString()}: ${JSON.stringify(problems)}`);
          return `${served.toString()} of ${tokens.toString()} tokens are served here`;
        }),
      );
    }
    return rescued;
  }

  switchOff(rescued: readonly Rescued[]): Promise<unknown> {
    const { owner, host, home, options } = this.#team;
    const work = async () => {
      for (const { call } of rescued) {
        const sent = await owner.sendTransaction({ to: call.to, data: call.data });
        if (options.kills) await home.commands.killService();
        await sent.wait();
      }
      await host.close();
      await home.examine();
    };
    const words = () => "doctor: the contracts name what is served";
    return this.#step("the owner sets the base URIs, and the old host is switched off", work, words);
  }

  addUsers(): Promise<unknown> {
    const { folder, holders, home } = this.#team;
    const file = join(folder, "users.csv");
    writeFileSync(file, holders.map((address, index) => `user-${index.toString()},${address}\n`).join(""));
    const added = () => home.users();
    const kills = this.#kills(
      { whom: "command", begin: atLeast(1, added) },
      { whom: "command", begin: atLeast(holders.length / 2, added) },
    );
    const work = () => home.commands.run(["wallets", "adopt", file, "--app", home.appId], kills);
    return this.#step(`wallets adopt: ${holders.length.toString()} users`, work, () => "watch-only wallets");
  }

  useLists(): Promise<unknown> {
    const { home, holders, size, contracts, options } = this.#team;
    const work = async () => {
      let pages = 0;
      await compareUsers(home.client, holders, async () => {
        if (++pages === 2 && options.kills) await home.commands.killService();
      });
      const { nfts } = (await home.client.ok("GET", `/v1/accounts/${holders[0] ?? ""}`)) as { nfts: object[] };
      return nfts.length;
    };
    return this.#step("lists", work, (count) => {
      const expected = (contracts.length * size.tokens) / size.holders;
      require(count === expected, `the first user has ${count.toString()} tokens`);
      return `every user once; the first one has ${count.toString()} tokens`;
    });
  }

  moveToken(): Promise<unknown> {
    const { home, owner, holders, contracts, options } = this.#team;
    const find = async () => {
      const path = "/v1/events?types=token.minted,token.received&after=start";
      const { events } = (await home.client.ok("GET", path)) as { events: { to_user: string | null }[] };
      return events.length === 0 ? null : events;
    };
    const work = async () => {
      const contract = WizardERC721__factory.connect(contracts[0]?.address ?? "", owner);
      await (await contract.mint(holders[0] ?? "", 1)).wait();
      if (options.kills) await home.commands.killService();
      const events = await waitFor("the event", find, { within: TIMEOUT, every: 100 });
      if (options.kills) await home.commands.killService();
      return options.kills ? find() : events;
    };
    return this.#step("an event of a token that moves", work, (events) => {
      require(events?.length === 1 && events[0]?.to_user === "user-0", JSON.stringify(events));
      return "with the user's name; what was read back made none";
    });
  }

  /** A launch in each contract, after its owner has let the relay mint. */
  async mint(): Promise<void> {
    const { world, home, holders, contracts, owner, options } = this.#team;
    const count = Math.min(NEW_TOKENS, holders.length);
    for (const contract of contracts) {
      const { type, address } = contract;
      const work = async () => {
        await letMint(owner, contract, await home.relay());
        await home.commands.run(["collection", "minting", address]);
        const items = holders.slice(0, count).map((to, index) => ({
          ...{ collection_address: address, to_address: to, token_id: FIRST_NEW + index },
          ...(type === "ERC721" ? {} : { quantity: 1 }),
        }));
        const ids = await world.client.acceptBatch("/v1/nfts/batch", items);
        if (options.kills) await home.commands.killService();
        // One by one: so many callers at a time would measure something else.
        const made: Record<string, unknown>[] = [];
        for (const id of ids) made.push(await world.final(world.app, id ?? ""));
        return made.filter(({ status, nft_token_id: id }, index) => status === "completed" && id === FIRST_NEW + index);
      };
      await this.#step(`collection minting: ${type}`, work, (made) => {
        require(made.length === count, `${made.length.toString()} of ${count.toString()} tokens were minted`);
        return `${count.toString()} tokens minted by POST /v1/nfts/batch`;
      });
    }
  }

  /** Half of the holders' keys. One of them then moves a token. */
  async importKeys(): Promise<void> {
    const { world, home, keys, contracts, owner } = this.#team;
    const half = keys.slice(0, keys.length / 2);
    const rows = half.map((key, index) => `user-${index.toString()},${key}\n`).join("");
    const words = ["wallets", "import", "--app", home.appId];
    const stored = () => home.count("select count(*) as count from imported_keys");
    const kills = this.#kills({ whom: "command", begin: atLeast(1, stored) });
    const work = () => home.commands.run<{ refused: number }>(words, kills, rows);
    await this.#step(`wallets import: ${half.length.toString()} keys`, work, ({ refused }) => {
      require(refused === 0, `${refused.toString()} keys are refused`);
      return "watch-only wallets sign now";
    });
    require((await stored()) === half.length, `${(await stored()).toString()} wallets have their keys`);
    const token = { contract_address: contracts[0]?.address, token_id: 0, from_user: "user-0" };
    const move = async () => {
      const id = await world.client.accept("/v1/transfers", { ...token, to_address: owner.address });
      return world.final(world.app, id ?? "");
    };
    await this.#step("a transfer of an imported wallet", move, ({ status }) => {
      require(status === "completed", `the transfer is ${String(status)}`);
      return "completed";
    });
  }

  /** Moves everything of the imported wallets to new ones. */
  async sweep(): Promise<void> {
    const { world, home, holders, contracts } = this.#team;
    const { provider } = world.node;
    const old = holders.slice(0, holders.length / 2);
    const before = await BeforeSweep.read(provider, contracts);
    const tokens = before.countOf(old);
    const transfers = "select count(*) as count from requests where type = 'transfer' and status";
    const done = () => home.count(`${transfers} = 'completed'`);
    const wasWorking = async () => (await home.count(`${transfers} not in ('completed', 'failed')`)) > 0;
    const kills = this.#kills(
      { whom: "command", begin: grownBy(tokens / 10, done) },
      { whom: "service", begin: grownBy(tokens / 10, done), wasWorking },
      { whom: "command", begin: grownBy(tokens / 10, done) },
    );
    const work = async () => {
      const swept = await home.commands.run<Sweep>(["wallets", "sweep", "--app", home.appId], kills);
      return { swept, used: await before.used(tokens) };
    };
    await this.#step(`wallets sweep: ${old.length.toString()} wallets`, work, ({ swept, used }) => {
      require(swept.left === 0 && swept.reasons.length === 0, JSON.stringify(swept.reasons));
      return `${tokens.toString()} tokens and their users are at new wallets; ${used}`;
    });
    const fresh = await home.derivedWallets();
    const moved = new Map(old.map((wallet, index) => [wallet, fresh.get(`user-${index.toString()}`) ?? ""]));
    for (const [index, wallet] of old.entries()) this.#wallets[index] = moved.get(wallet) ?? "";
    await this.#step(
      "what was swept, compared with the chain and the lists",
      () => before.compare(home.client, contracts, moved),
      () => "old wallets are empty, all tokens are at the new ones, others did not move",
    );
  }

  /** Compares what an installation has with the chain, with what the old host had, and with the list of users. */
  compare(place: Installation): Promise<unknown> {
    const { world, host, home, size, contracts, folder } = this.#team;
    const work = async () => {
      for (const contract of contracts) {
        await compareHolders(world.node.provider, place.records, contract);
        await compareServed({ host, url: place.url, contract, tokens: size.tokens });
        if (place === home) compareFolder(host, contract, join(folder, contract.type), size.tokens);
      }
      await compareUsers(place.client, this.#wallets);
      await place.examine();
    };
    const count = (contracts.length * size.tokens).toString();
    const words = () => `holders, supplies and moves of the chain; ${count} tokens with the old host's bytes`;
    const where = place === home ? "here" : "there";
    return this.#step(`what is ${where}, compared with the chain and the old host`, work, words, place);
  }

  /** @returns the folder. */
  leave(): Promise<string> {
    const { home, folder, size, options } = this.#team;
    const place = (name: string) => join(folder, name);
    const words = (name: string) => ["export", place(name), "--app", home.appId];
    const work = async () => {
      if (!options.kills) {
        await home.commands.run(words("export"));
        return place("export");
      }
      const program = home.commands.start(words("killed"));
      const copied = () => countIn(join(place("killed"), "media"));
      await until("some media are exported", () => copied() >= size.tokens / 10, { every: 1 });
      await home.commands.killCommand(program);
      const again = home.commands.start(words("killed"));
      const code = await again.gone();
      require(code === 1 && again.output.includes("Use a new folder"), again.output);
      await home.commands.run(words("export"));
      return place("export");
    };
    const result = options.kills ? "the folder of the killed one is refused, a new one is complete" : "complete";
    return this.#step("export", work, () => result);
  }

  arrive(exported: string): Promise<unknown> {
    const { heir, contracts, size, holders } = this.#team;
    const [first, last] = [contracts[0]?.address ?? "", contracts.at(-1)?.address ?? ""];
    const some = size.tokens / 10;
    const media = () => heir.count("select count(*) as count from app_media");
    const filled = () =>
      heir.count("select count(*) as count from nfts where metadata is not null and contract in (?, ?)", first, last);
    const wasWorking = async () => (await heir.isReading(first)) || (await heir.isReading(last));
    const kills = this.#kills(
      { whom: "command", begin: atLeast(1, () => heir.users()) },
      { whom: "service", begin: atLeast(size.tokens / 4, () => heir.tokens(first)), wasWorking },
      { whom: "command", begin: grownBy(some, media) },
      { whom: "command", begin: grownBy(some, media) },
      { whom: "command", begin: atLeast(some, filled) },
      { whom: "command", begin: atLeast(size.tokens + some, filled) },
    );
    const work = () => heir.commands.run<{ complete: boolean }>(["import", exported, "--app", heir.appId], kills);
    const result = `${holders.length.toString()} users, ${contracts.length.toString()} contracts, metadata and pictures`;
    return this.#step(
      "import into another installation",
      work,
      ({ complete }) => {
        require(complete, "some contracts are not read");
        return result;
      },
      heir,
    );
  }
}

/** How many files a folder has. */
function countIn(folder: string): number {
  try {
    return readdirSync(folder).length;
  } catch {
    // It does not exist yet.
    return 0;
  }
}
