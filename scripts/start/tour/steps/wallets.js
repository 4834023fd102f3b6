import { answerOf } from "../../../../client/client.ts";
import { check } from "../check.ts";
/** Creating a wallet needs no transaction, so the address is returned at once. */
export async function createWallets({ api, report }) {
    report.step("Create two wallets");
    const alice = await answerOf(api.POST("/v1/accounts", { body: { user_identifier: "tour-alice" } }));
    const bob = await answerOf(api.POST("/v1/accounts", { body: { user_identifier: "tour-bob" } }));
    const found = await answerOf(api.GET("/v1/accounts/user/{user_identifier}", { params: { path: { user_identifier: "tour-alice" } } }));
    check(found.address === alice.address, "looking up tour-alice returned another address");
    report.line(`tour-alice ${alice.address}`);
    report.line(`tour-bob   ${bob.address}`);
    return { alice: alice.address, bob: bob.address };
}
