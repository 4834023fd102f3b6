import type { QuarantineReason } from "../../domain/followed-contract.ts";
import type { Db } from "../db/sql.ts";

/** How the contracts that apps follow are doing. */
export interface ContractHealth {
  followed: number;
  quarantined: { address: string; reason: QuarantineReason | null; until: number | null }[];
  /** Wallets whose tokens wait to be read from the chain, though their contract is not in quarantine. */
  waiting: number;
  /** When the longest waiting read was due; null when none waits. */
  oldest: number | null;
}

export async function contractHealth(db: Db): Promise<ContractHealth> {
  const { followed } = await db
    .selectFrom("foreign_contracts")
    .where("state", "=", "followed")
    .select(({ fn }) => fn.countAll().as("followed"))
    .executeTakeFirstOrThrow();
  const quarantined = await db
    .selectFrom("foreign_contracts")
    .select(["address", "reason", "due_at as until"])
    .where("state", "=", "quarantined")
    .orderBy("address")
    .execute();
  const { waiting, oldest } = await db
    .selectFrom("contract_reads as read")
    .innerJoin("foreign_contracts as contract", "contract.address", "read.contract")
    .where("read.due_at", "is not", null)
    .where("contract.state", "=", "followed")
    // A time of 0 means at once.
    .select(({ fn }) => [fn.countAll().as("waiting"), fn.min<number | null>("read.due_at").as("oldest")])
    .executeTakeFirstOrThrow();
  return { followed: Number(followed), quarantined, waiting: Number(waiting), oldest };
}
