import { check } from "../check.ts";
import { CATS } from "../pictures/cats.ts";
import { complete, held } from "../tour.ts";
/** The first token that has such content. */
const TOKEN = CATS + 1;
/** Unlockable content is not on chain. The API returns it only for the wallet that holds the token. */
export async function moveUnlockableContent(tour, collection, { alice, bob }) {
    const { api, report } = tour;
    report.step(`Transfer token ${TOKEN} with its unlockable content`);
    const before = await held(tour, alice, collection, TOKEN);
    const content = before?.unlockable_content ?? null;
    check(content !== null, `tour-alice holds token ${TOKEN} and does not see its content`);
    check((await held(tour, bob, collection, TOKEN)) === undefined, `tour-bob has token ${TOKEN} already`);
    const body = { from_address: alice, to_address: bob, contract_address: collection, token_id: TOKEN };
    await complete(tour, api.POST("/v1/transfers", { body }));
    const after = await held(tour, bob, collection, TOKEN);
    check(after?.unlockable_content === content, "tour-bob holds the token and does not see its content");
    check((await held(tour, alice, collection, TOKEN)) === undefined, "tour-alice still sees the token");
    report.line(`tour-bob can read "${content}" now, tour-alice no longer can`);
}
