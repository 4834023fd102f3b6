import { plural } from "../../shared/plural.ts";
import { contractHealth } from "../../store/doctor/contracts.ts";
import { type Check, duration, ok, some, warning } from "../check.ts";

/** Reads of wallets that may wait before a warning. */
const WAITING = 1_000;

/** Contracts that others deployed and apps follow answer, and are read. */
export const followed: Check = {
  name: "followed",
  asksChain: false,
  run: async ({ database, now }) => {
    const health = await contractHealth(database.read);
    const findings = [];
    for (const reason of ["flood", "failing"] as const) {
      const found = health.quarantined.filter((contract) => contract.reason === reason);
      if (found.length === 0) continue;
      const names = found.map(({ address, until }) => `${address} (for ${duration((until ?? now) - now)} more)`);
      findings.push(
        warning(
          reason === "flood"
            ? `Quarantined because they emit too many transfer events: ${some(names)}. They are tried again by themselves. ` +
                "If you trust such a contract, set MAX_FOREIGN_LOGS higher; otherwise run `contract unfollow`."
            : `Quarantined because calls that read them use too much gas or answer too many bytes: ${some(names)}. They are ` +
                "tried again by themselves. If you trust such a contract, set FOREIGN_CALL_GAS higher; otherwise run `contract unfollow`.",
          "contract_quarantined",
        ),
      );
    }
    if (health.waiting > WAITING) {
      findings.push(
        warning(
          `${plural(health.waiting, "wallet")} wait for the background reads of followed contracts. Check that a process with ` +
            "the role indexer runs, or set CONTRACT_READS_PER_MINUTE higher.",
        ),
      );
    }
    if (findings.length > 0) return findings;
    return [ok(`${plural(health.followed, "contract")} of others followed, none in quarantine`)];
  },
};
