import { expect } from "chai";
import { hexlify, randomBytes, SigningKey, verifyAuthorization } from "ethers";

import type { WalletSigner } from "../../../api/keys/keyring.ts";
import type { RelayerContext } from "../../../api/relayer/context.ts";
import { signDelegations } from "../../../api/relayer/sign.ts";
import { insertApp } from "../../../api/store/apps/apps.ts";
import { insertWallets } from "../../../api/store/apps/wallets.ts";
import { noteDelegated } from "../../../api/store/requests/settle-final.ts";
import { useTestDatabase } from "../../support/use-database.ts";

const OURS = `0x${"11".repeat(20)}`;
const THEIRS = `0x${"22".repeat(20)}`;

function codeOf(delegate: string | null): string {
  return delegate === null ? "0x" : `0xef0100${delegate.slice(2)}`;
}

/** What a node says of the wallet. */
interface Said {
  delegate: string | null;
  nonce: number;
}

describe("the delegations of imported wallets", () => {
  const database = useTestDatabase({ per: "test" });
  const key = new SigningKey(hexlify(randomBytes(32)));
  const address = `0x${"aB".repeat(20)}`;

  async function signed(nodes: readonly Said[], options: { certain: boolean; imported: "no" | "plain" | "replaces" }) {
    await database.write(async (trx) => {
      await insertApp(trx, { id: "app", name: "app", created_at: 1 });
      const path = options.imported === "no" ? "1/2/3" : "";
      await insertWallets(trx, [{ appId: "app", userIdentifier: null, address, path }], 1);
      if (options.certain) await noteDelegated(trx, [address]);
    });
    let current = nodes[0];
    const client = {
      code: () => Promise.resolve([codeOf(current?.delegate ?? null)]),
      nonces: (of: string[]) => Promise.resolve(of.map(() => current?.nonce ?? 0)),
      nodes: {
        each: async <T>(work: () => Promise<T>): Promise<T[]> => {
          const answers: T[] = [];
          for (const node of nodes) {
            current = node;
            answers.push(await work());
          }
          current = nodes[0];
          return answers;
        },
      },
    };
    const imported = { sealed: "", replacesDelegation: options.imported === "replaces" };
    const signer: WalletSigner = { address, key, imported: options.imported === "no" ? null : imported };
    const context = { client, chainId: 31_337n, contracts: { delegate: OURS }, database } as unknown as RelayerContext;
    const found = (await signDelegations(context, new Map([[address, signer]]), [address])).get(address);
    if (found === undefined || typeof found === "string") return found ?? "none";
    const { authorization } = found;
    expect(verifyAuthorization({ ...authorization, chainId: 31_337n }, authorization.signature)).to.be.a("string");
    return `nonce ${authorization.nonce.toString()}${found.doubtful ? ", doubtful" : ""}`;
  }

  const none = { delegate: null, nonce: 4 };
  const ours = { delegate: OURS, nonce: 5 };
  const theirs = { delegate: THEIRS, nonce: 6 };
  const CASES: [string, Said[], Parameters<typeof signed>[1], string][] = [
    ["all nodes name a nonce", [none, none], { certain: false, imported: "plain" }, "nonce 4"],
    ["one node alone names a nonce", [none], { certain: false, imported: "plain" }, "nonce 4, doubtful"],
    ["two nodes name different nonces", [none, ours], { certain: true, imported: "plain" }, "nodes disagree"],
    ["two of three nodes name one", [none, ours, ours], { certain: true, imported: "plain" }, "nonce 5"],
    ["all say that it has delegated, for certain", [ours, ours], { certain: true, imported: "plain" }, "none"],
    ["all say so, and no final block has", [ours, ours], { certain: false, imported: "plain" }, "nonce 5"],
    [
      "one says that it has delegated elsewhere",
      [ours, theirs, ours],
      { certain: true, imported: "plain" },
      "delegated elsewhere",
    ],
    ["the operator replaces that", [ours, theirs, theirs], { certain: true, imported: "replaces" }, "nonce 6"],
    ["it is derived: nobody else can change it", [ours, theirs], { certain: true, imported: "no" }, "none"],
  ];
  for (const [given, nodes, options, expected] of CASES)
    it(`given ${given}: ${expected}`, async () => {
      expect(await signed(nodes, options)).to.equal(expected);
    });
});
