import type { Wallet } from "../answers.ts";
import { check } from "../check.ts";
import type { Tour } from "../tour.ts";

/** Addresses of two users' wallets. */
export interface Wallets {
  alice: string;
  bob: string;
}

/** A wallet is there at once: no transaction is needed, and none ever by the wallet itself. */
export async function createWallets({ api, report }: Tour): Promise<Wallets> {
  report.step("Create two wallets");
  const alice = await api.post<Wallet>("/v1/accounts", { user_identifier: "tour-alice" });
  const bob = await api.post<Wallet>("/v1/accounts", { user_identifier: "tour-bob" });
  const found = await api.get<Wallet>("/v1/accounts/user/tour-alice");
  check(found.address === alice.address, "the wallet of tour-alice has another address when it is looked up");
  report.line(`tour-alice ${alice.address}`);
  report.line(`tour-bob   ${bob.address}`);
  return { alice: alice.address, bob: bob.address };
}
