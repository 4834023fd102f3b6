import { expect } from "chai";

import { addCollection, addMint, addWallet } from "../support/api-rows.ts";
import { randomAddress } from "../support/rows.ts";
import { useApi } from "../support/use-api.ts";

/** Calls to the same path that meet, and how many of them are accepted. */
interface Race {
  path: string;
  calls: number;
  accepted: number;
  refusal: string;
  /** Prepares the race. @returns the body of a call. */
  prepare: () => Promise<() => object>;
}

describe("concurrent calls", () => {
  const api = useApi({ per: "block" });
  let wallet: string;
  before(async () => {
    wallet = await addWallet(api);
  });

  const held = async (type: "ERC721" | "ERC1155", quantity: number) => {
    const contract = await addCollection(api, { type });
    await addMint(api, { contract, to: wallet, tokenId: 1, quantity, type });
    return { from_address: wallet, contract_address: contract, token_id: 1 };
  };

  const races: Record<string, Race> = {
    "mint exactly the tokens that are left of a supply cap": {
      ...{ path: "/v1/nfts", calls: 20, accepted: 3, refusal: "supply_exceeded" },
      prepare: async () => {
        const contract = await addCollection(api, { cap: 3 });
        return () => ({ collection_address: contract, to_address: wallet });
      },
    },
    "create an ERC1155 id once": {
      ...{ path: "/v1/nfts", calls: 10, accepted: 1, refusal: "token_already_exists" },
      prepare: async () => {
        const contract = await addCollection(api, { type: "ERC1155" });
        return () => ({ collection_address: contract, token_id: 1, initial_supply: 1, initial_owner: wallet });
      },
    },
    "transfer a token once": {
      ...{ path: "/v1/transfers", calls: 10, accepted: 1, refusal: "token_busy" },
      prepare: async () => {
        const token = await held("ERC721", 1);
        return () => ({ ...token, to_address: randomAddress() });
      },
    },
    "spend a balance only once": {
      ...{ path: "/v1/transfers", calls: 12, accepted: 3, refusal: "insufficient_balance" },
      prepare: async () => {
        const token = await held("ERC1155", 10);
        return () => ({ ...token, to_address: randomAddress(), amount: 3 });
      },
    },
    "create one wallet for a user": {
      ...{ path: "/v1/accounts", calls: 10, accepted: 1, refusal: "user_identifier_taken" },
      prepare: () => Promise.resolve(() => ({ user_identifier: "wanted" })),
    },
  };
  for (const [what, { path, calls, accepted, refusal, prepare }] of Object.entries(races)) {
    it(`${what}, and store nothing of the refused calls`, async () => {
      const bodyOf = await prepare();
      const before = await stored();
      const answers = await Promise.all(Array.from({ length: calls }, () => api.post(path, bodyOf())));
      const refused = answers.filter(({ status }) => status !== 200);
      expect(refused.map(({ body }) => body.error_code)).to.deep.equal(Array(calls - accepted).fill(refusal));
      expect(await stored()).to.deep.equal(before.map((count) => count + accepted));
    });
  }

  /** The app's requests and wallets, as they are listed, and the rows that it has. */
  async function stored(): Promise<[listed: number, rows: number]> {
    const lists = [await api.get("/v1/requests"), await api.get("/v1/accounts")];
    let rows = 0;
    for (const table of ["requests", "wallets"] as const) {
      const own = api.database.read.selectFrom(table).select("app_id").where("app_id", "=", api.app.id);
      rows += (await own.execute()).length;
    }
    return [lists.reduce((sum, { body }) => sum + (body.total ?? 0), 0), rows];
  }
});
