import { answerOf } from "../../../../client/client.ts";
import { check } from "../check.ts";
import { complete, held } from "../tour.ts";
const TOKEN = 1;
/** The wallet signs and the service pays for gas. */
export async function transferOne(tour, collection, { alice, bob }) {
    const { api, report } = tour;
    report.step(`Transfer token ${TOKEN} from tour-alice to tour-bob`);
    const body = { from_address: alice, to_address: bob, contract_address: collection, token_id: TOKEN };
    await complete(tour, api.POST("/v1/transfers", { body }));
    const path = { address: collection, token_id: TOKEN };
    const nft = await answerOf(api.GET("/v1/collections/{address}/{token_id}", { params: { path } }));
    const owner = nft.type === "ERC721" ? nft.owner : null;
    check(owner === bob, `token ${TOKEN} belongs to ${owner ?? "nobody"}`);
    check((await held(tour, alice, collection, TOKEN)) === undefined, `tour-alice still has token ${TOKEN}`);
}
