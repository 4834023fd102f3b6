import { expect } from "chai";

import { addCollection, addMint, addWallet } from "../support/api-rows.ts";
import { randomAddress } from "../support/rows.ts";
import { useApi } from "../support/use-api.ts";

describe("concurrent calls", () => {
  const api = useApi({ per: "block" });
  let wallet: string;
  before(async () => {
    wallet = await addWallet(api);
  });

  /** Sends all calls at once. @returns how many were accepted, and the error codes of the others. */
  async function race(path: string, bodies: object[]): Promise<{ accepted: number; refused: string[] }> {
    const answers = await Promise.all(bodies.map((body) => api.post(path, body)));
    const refused = answers.filter((answer) => answer.status !== 200);
    return { accepted: answers.length - refused.length, refused: refused.map(({ body }) => body.error_code ?? "") };
  }

  const times = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));

  it("mint exactly the tokens that are left of a supply cap", async () => {
    const contract = await addCollection(api, { cap: 3 });
    const result = await race(
      "/v1/nfts",
      times(20, () => ({ collection_address: contract, to_address: wallet })),
    );
    expect(result).to.deep.equal({ accepted: 3, refused: times(17, () => "supply_exceeded") });
  });

  it("create an ERC1155 id once", async () => {
    const contract = await addCollection(api, { type: "ERC1155" });
    const body = { collection_address: contract, token_id: 1, initial_supply: 1, initial_owner: wallet };
    const result = await race(
      "/v1/nfts",
      times(10, () => body),
    );
    expect(result).to.deep.equal({ accepted: 1, refused: times(9, () => "token_already_exists") });
  });

  it("transfer a token once", async () => {
    const contract = await addCollection(api);
    await addMint(api, { contract, to: wallet, tokenId: 1 });
    const result = await race(
      "/v1/transfers",
      times(10, () => ({
        from_address: wallet,
        to_address: randomAddress(),
        contract_address: contract,
        token_id: 1,
      })),
    );
    expect(result).to.deep.equal({ accepted: 1, refused: times(9, () => "token_busy") });
  });

  it("spend a balance only once", async () => {
    const contract = await addCollection(api, { type: "ERC1155" });
    await addMint(api, { contract, to: wallet, tokenId: 1, quantity: 10, type: "ERC1155" });
    const result = await race(
      "/v1/transfers",
      times(12, () => ({
        from_address: wallet,
        to_address: randomAddress(),
        contract_address: contract,
        token_id: 1,
        amount: 3,
      })),
    );
    expect(result).to.deep.equal({ accepted: 3, refused: times(9, () => "insufficient_balance") });
  });

  it("create one wallet for a user", async () => {
    const result = await race(
      "/v1/accounts",
      times(10, () => ({ user_identifier: "wanted" })),
    );
    expect(result).to.deep.equal({ accepted: 1, refused: times(9, () => "user_identifier_taken") });
  });

  it("store nothing of the refused calls", async () => {
    const before = (await api.get("/v1/requests")).body.total ?? 0;
    const contract = await addCollection(api, { cap: 1 });
    await race(
      "/v1/nfts",
      times(5, () => ({ collection_address: contract, to_address: wallet })),
    );
    // The collection's own request, and one mint.
    expect((await api.get("/v1/requests")).body.total).to.equal(before + 2);
    const rows = await api.database.read.selectFrom("requests").select("id").where("app_id", "=", api.app.id).execute();
    expect(rows).to.have.length(before + 2);
  });
});
