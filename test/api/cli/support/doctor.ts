import type { Examination } from "../../../../api/doctor/examine.ts";
import type { Service } from "../../../../api/context/service.ts";
import { createApp } from "../../../../api/operator/create-app.ts";
import { type Database, openDatabase } from "../../../../api/store/db/database.ts";
import { ApiClient } from "../../../support/api-client.ts";
import { startNode, type TestNode } from "../../../support/node.ts";
import { temporaryFolder } from "../../../support/folder.ts";
import { startTestService } from "../../../support/service.ts";
import { runCli } from "./run.ts";

type Change = (database: Database) => Promise<unknown>;

/** A service that has completed one request of each kind, and the command `doctor` beside it. */
export class DoctorFixture {
  readonly node: TestNode;
  readonly folder: Awaited<ReturnType<typeof temporaryFolder>>;
  readonly service: Service & { baseUrl: string };
  readonly api: ApiClient;
  readonly env: Record<string, string>;
  /** A completed mint with unlockable content. */
  mintId = "";
  collection = "";

  private constructor(
    node: TestNode,
    folder: DoctorFixture["folder"],
    service: DoctorFixture["service"],
    token: string,
  ) {
    [this.node, this.folder, this.service] = [node, folder, service];
    this.api = ApiClient.at(service.baseUrl, token);
    this.env = { PORT: "0", RPC_URL: node.url, DATA_DIR: folder.path };
  }

  static async start(): Promise<DoctorFixture> {
    const node = await startNode();
    const folder = await temporaryFolder();
    const service = await startTestService({ rpcUrl: node.url, dataDir: folder.path });
    const fixture = new DoctorFixture(node, folder, service, (await createApp(service, "doctor")).token);
    await fixture.#sendRequests();
    return fixture;
  }

  async #sendRequests(): Promise<void> {
    const { api } = this;
    const [from, to] = [await api.wallet(), await api.wallet()];
    this.collection = await api.collection({ type: "ERC721" });
    const mint = { collection_address: this.collection, to_address: from, name: "One", unlockable_content: "secret" };
    this.mintId = (await api.completed("/v1/nfts", mint)).request_id;
    await api.completed("/v1/transfers", {
      from_address: from,
      to_address: to,
      contract_address: this.collection,
      token_id: 1,
    });
    const editions = await api.collection({ type: "ERC1155" });
    await api.completed("/v1/nfts", {
      collection_address: editions,
      initial_owner: to,
      token_id: 7,
      initial_supply: 2,
    });
    await api.completed("/v1/nfts", { collection_address: editions, to_address: from, token_id: 7, quantity: 3 });
  }

  async stop(): Promise<void> {
    await this.service.stop();
    await this.node.stop();
    await this.folder.remove();
  }

  async examine(more: Record<string, string> = {}): Promise<Examination & { failed: boolean }> {
    const { output, failed } = await runCli({ ...this.env, ...more }, "doctor", "--json");
    return { ...(JSON.parse(output) as Examination), failed };
  }

  /** Changes rows of the service's database through a separate connection. */
  async change(work: Change): Promise<void> {
    const database = await openDatabase(`file:${this.folder.path}/moneta.sqlite`);
    try {
      await work(database);
    } finally {
      await database.close();
    }
  }

  /** Changes rows, runs `doctor`, and changes the rows back. */
  async examineWith(change: Change, undo: Change): Promise<Examination & { failed: boolean }> {
    try {
      await this.change(change);
      return await this.examine();
    } finally {
      await this.change(undo);
    }
  }
}

/** The worst finding of one check. */
export function worstOf({ findings }: Examination, check: string): { result: string; words: string } {
  const own = findings.filter((finding) => finding.check === check);
  const worst =
    own.find(({ result }) => result === "problem") ?? own.find(({ result }) => result === "warning") ?? own[0];
  if (worst === undefined) throw new Error(`the check ${check} gave no finding`);
  return worst;
}
