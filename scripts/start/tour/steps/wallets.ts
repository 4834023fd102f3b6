import { answerOf } from "../../../../api/client/client.ts";
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
  const alice = await answerOf(api.POST("/v1/accounts", { body: { user_identifier: "tour-alice" } }));
  const bob = await answerOf(api.POST("/v1/accounts", { body: { user_identifier: "tour-bob" } }));
  const found = await answerOf(
    api.GET("/v1/accounts/user/{user_identifier}", { params: { path: { user_identifier: "tour-alice" } } }),
  );
  check(found.address === alice.address, "the wallet of tour-alice has another address when it is looked up");
  report.line(`tour-alice ${alice.address}`);
  report.line(`tour-bob   ${bob.address}`);
  return { alice: alice.address, bob: bob.address };
}
