import { mkdir } from "node:fs/promises";
import { join } from "node:path";

import type { Records } from "../../scene/records.ts";
import { createAppIn } from "../../scene/scene.ts";
import { RetryingClient } from "../client.ts";
import type { Engine } from "../options.ts";
import { Service } from "../service.ts";
import { RATES, type World } from "../world.ts";
import { Commands } from "./commands.ts";

/** A service with an app, as its operator works with it. */
export class Installation {
  readonly service: Service;
  readonly appId: string;
  readonly client: Pick<RetryingClient, "ok">;
  readonly commands: Commands;
  readonly records: Records;

  private constructor(service: Service, { appId, client }: Pick<Installation, "appId" | "client">, records: Records) {
    this.service = service;
    this.appId = appId;
    this.client = client;
    this.commands = new Commands(service);
    this.records = records;
  }

  /** That of a world, which reaches its node at another URL from now on. */
  static async of({ service, app }: World, nodeUrl: string): Promise<Installation> {
    for (const { env } of service.members) env["RPC_URL"] = nodeUrl;
    await service.restart();
    return new Installation(service, app, await service.records());
  }

  /** Another one on the same chain. */
  static async beside(world: World, nodeUrl: string, engine: Engine): Promise<Installation> {
    const { folder, random } = world;
    await mkdir(join(folder, "beside"));
    const settings = { ...RATES, RPC_URL: nodeUrl, NODE_COMPILE_CACHE: join(folder, "compiled") };
    const service = await Service.create({ engine, isOne: true }, join(folder, "beside"), settings, random);
    await service.start();
    const { appId, token } = await createAppIn(service.databaseUrl, "heir");
    const client = new RetryingClient(service.apiUrls, token, random);
    return new Installation(service, { appId, client }, await service.records());
  }

  get url(): string {
    return this.service.apiUrls[0] ?? "";
  }

  /** The number that a statement selects as `count`. */
  async count(text: string, ...values: string[]): Promise<number> {
    return (await this.records.one<{ count: number }>(text, ...values)).count;
  }

  /** How many tokens of a contract are stored. */
  tokens(contract: string): Promise<number> {
    return this.count("select count(*) as count from nfts where contract = ?", contract);
  }

  /** How many users have a wallet. */
  users(): Promise<number> {
    return this.count("select count(user_identifier) as count from wallets where app_id = ?", this.appId);
  }

  /** The wallets whose keys come from the seed, by their users. */
  async derivedWallets(): Promise<Map<string, string>> {
    const text =
      "select user_identifier as name, address from wallets where path <> '' and user_identifier is not null";
    const rows = await this.records.all<{ name: string; address: string }>(text);
    return new Map(rows.map(({ name, address }) => [name, address]));
  }

  async relay(): Promise<string> {
    const { value } = await this.records.one<{ value: string }>("select value from meta where key = 'contracts'");
    return (JSON.parse(value) as { relay: string }).relay;
  }

  async isReading(contract: string): Promise<boolean> {
    const text = "select count(*) as count from foreign_contracts where state = 'reading' and address = ?";
    return (await this.count(text, contract)) === 1;
  }

  /** @throws when the doctor finds a problem, or the contracts name other metadata than what is served. @returns its results. */
  async examine(): Promise<void> {
    const text = await this.service.cli("doctor", "--json");
    const { result, findings } = JSON.parse(text) as Examination;
    const wrong = findings.filter(({ check, result: one }) => check === "rescued" && one !== "ok");
    if (result === "problem" || wrong.length > 0) throw new Error(text);
  }

  async stop(): Promise<void> {
    await this.records.close();
    await this.service.stop();
  }
}

interface Examination {
  result: string;
  findings: { check: string; result: string }[];
}
