import type { Examination } from "../../../../api/checks/examine.ts";
import type { Database } from "../../../../api/store/db/database.ts";
import type { OwnService } from "../../../support/own-service.ts";
import { useService } from "../../../support/use-service.ts";
import { withDatabase } from "../../../../scripts/scene/scene.ts";
import { runCli } from "./run.ts";

type Change = (database: Database) => Promise<unknown>;

/** Gives the tests of a `describe` block a service that has completed one request of each kind, and `doctor` beside it. */
export function useDoctor(): DoctorFixture {
  // `doctor` looks at the whole database, and tests damage it.
  const fixture = new DoctorFixture(useService({ node: "deployed" }));
  before("complete one request of each kind", () => fixture.sendRequests());
  return fixture;
}

class DoctorFixture {
  readonly moneta: OwnService;
  /** A completed mint with unlockable content. */
  mintId = "";
  collection = "";

  constructor(moneta: OwnService) {
    this.moneta = moneta;
  }

  /** For `useDoctor` only. */
  async sendRequests(): Promise<void> {
    const { api } = this.moneta;
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

  async examine(more: Record<string, string> = {}): Promise<Examination & { failed: boolean }> {
    const { output, failed } = await runCli({ ...this.moneta.env, ...more }, "doctor", "--json");
    return { ...(JSON.parse(output) as Examination), failed };
  }

  /** Changes rows of the service's database through a separate connection. */
  async change(work: Change): Promise<void> {
    await withDatabase(this.moneta.databaseUrl, work);
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
