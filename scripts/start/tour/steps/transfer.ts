import { check } from "../check.ts";
import { complete, held, type Tour } from "../tour.ts";
import type { Wallets } from "./wallets.ts";

const TOKEN = 1;

/** The wallet signs, the service sends: a wallet never needs gas. */
export async function transferOne(tour: Tour, collection: string, { alice, bob }: Wallets): Promise<void> {
  const { api, report } = tour;
  report.step(`Transfer token ${TOKEN} from tour-alice to tour-bob`);
  await complete(tour, "/v1/transfers", {
    from_address: alice,
    to_address: bob,
    contract_address: collection,
    token_id: TOKEN,
  });
  const { owner } = await api.get<{ owner: string }>(`/v1/collections/${collection}/${TOKEN}`);
  check(owner === bob, `token ${TOKEN} belongs to ${owner}`);
  check((await held(tour, alice, collection, TOKEN)) === undefined, `tour-alice still has token ${TOKEN}`);
}
