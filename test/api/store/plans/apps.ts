import { noteDelegated } from "../../../../api/store/requests/settle-final.ts";
import {
  countLiveTokens,
  endApiToken,
  findApiToken,
  findApiTokensByHash,
  insertApiToken,
  listApiTokens,
  lockApiToken,
  pageOfApiTokens,
  revokeApiToken,
} from "../../../../api/store/apps/api-tokens.ts";
import {
  appOwnsSomething,
  deleteApp,
  findApp,
  findAppsById,
  holdApps,
  insertApp,
  listApps,
  lockApp,
  pageOfApps,
} from "../../../../api/store/apps/apps.ts";
import {
  beginConsoleSession,
  findConsoleLink,
  findConsoleSession,
  findConsoleSessionsByHash,
  insertConsoleLink,
  listConsoleSessions,
  revokeAllConsoleSessions,
  revokeConsoleSession,
  touchConsoleSession,
} from "../../../../api/store/apps/console-sessions.ts";
import { findStoredAnswers, insertAnswers } from "../../../../api/store/apps/idempotency.ts";
import { storedWallets, storeImportedKeys } from "../../../../api/store/apps/imported-keys.ts";
import { lockQuotas, readCounted, readQuotaUse, readQuotaUses, setQuotas } from "../../../../api/store/apps/quotas.ts";
import { countOlderFingerprints, everythingSealed, replaceSealed } from "../../../../api/store/apps/sealed.ts";
import {
  findWallets,
  findWalletsOfUsers,
  insertWallets,
  listWallets,
  delegatedAmong,
  ownAmong,
  setUserIdentifiers,
  signingWallets,
} from "../../../../api/store/apps/wallets.ts";
import {
  endWithdrawal,
  noncesAfterWithdrawals,
  openWithdrawals,
  recordWithdrawal,
} from "../../../../api/store/apps/withdrawals.ts";
import { BUSY } from "../support/large-database.ts";
import { firstPages, PAGES, type Tour } from "./tour.ts";

const ID = "leaving";

export async function runApps({ read, write }: Tour): Promise<void> {
  await write((trx) => insertApp(trx, { id: ID, name: ID, created_at: 1 }));
  await listApps(read);
  for (const which of [ID, "nobody"]) await findApp(read, which);
  await findAppsById(read, [ID, "nobody"]);
  await appOwnsSomething(read, BUSY.app);
  await write((trx) => holdApps(trx, [BUSY.app, "nobody"]));
  await write((trx) => lockApp(trx, ID));
  await write((trx) => lockQuotas(trx, [BUSY.app, "nobody"]));
  await write((trx) => setQuotas(trx, ID, { wallets: 5 }));
  await readQuotaUse(read, BUSY.app);
  await readCounted(read, [BUSY.app, "nobody"]);
  await countLiveTokens(read, [BUSY.app, "nobody"], 5);
  const apps = await pageOfApps(read, { limit: 30, after: null });
  await readQuotaUses(read, apps.items);
  const token = { id: "token", app_id: ID, name: "token", hash: "hash", scopes: [] };
  await write((trx) =>
    insertApiToken(trx, { ...token, expires_at: null, revoked_at: null, rate_limit_per_minute: 60, created_at: 1 }),
  );
  await findApiTokensByHash(read, ["hash", "unknown"]);
  await findApiToken(read, "token");
  await listApiTokens(read, ID);
  for (const after of [null, { at: 5, id: "token" }]) {
    await pageOfApiTokens(read, ID, { limit: 30, after });
    await pageOfApps(read, { limit: 30, after });
  }
  await write((trx) => lockApiToken(trx, "token"));
  await write((trx) => endApiToken(trx, "token", 5));
  await write((trx) => revokeApiToken(trx, "token", 5));
  await runConsoleSessions({ read, write });
  await write((trx) => deleteApp(trx, ID));
  await callsOfAnApp({ read, write });
  await reencryption({ read, write });
}

async function runConsoleSessions({ read, write }: Pick<Tour, "read" | "write">): Promise<void> {
  const link = { id: "link", app_id: ID, scopes: ["read"], code_hash: "code", created_at: 1, expires_at: 10 };
  await write((trx) => insertConsoleLink(trx, link));
  await write((trx) => beginConsoleSession(trx, "code", { hash: "secret", now: 5, expiresAt: 20 }));
  await findConsoleLink(read, "code");
  await findConsoleSessionsByHash(read, ["secret", "unknown"]);
  await findConsoleSession(read, "link");
  await listConsoleSessions(read, 100);
  await write((trx) => touchConsoleSession(trx, "link", 9, 8));
  await write((trx) => revokeConsoleSession(trx, "link", 9));
  await write((trx) => revokeAllConsoleSessions(trx, 9));
}

async function callsOfAnApp({ read, write }: Tour): Promise<void> {
  const { app } = BUSY;
  const keys = ["key-1", "key-2", "new"].map((key) => ({ appId: app, key }));
  await write(async (trx) => {
    const stored = await findStoredAnswers(trx, keys);
    const fresh = keys.filter(({ appId, key }) => !stored.has(`${appId}/${key}`));
    const answers = fresh.map((key) => ({ ...key, fingerprint: "new:1", response: "{}" }));
    await insertAnswers(trx, answers, 1);
  });
  const wallet = { appId: app, path: "0/0/0" };
  const wallets = [
    { ...wallet, address: "new-1", userIdentifier: null },
    { ...wallet, address: "new-2", userIdentifier: "user-1" },
  ];
  await write((trx) => insertWallets(trx, wallets, 1));
  await findWallets(read, [{ appId: app, address: BUSY.wallet }]);
  await write((trx) => setUserIdentifiers(trx, [{ address: BUSY.wallet, user_identifier: "user-of-the-busy-wallet" }]));
  await findWalletsOfUsers(read, [{ appId: app, userIdentifier: "user-7" }]);
  for (const page of PAGES) await listWallets(read, app, "oldest", page);
  await signingWallets(read, [BUSY.wallet, "nobody"]);
  await delegatedAmong(read, [BUSY.wallet, "nobody"]);
  await ownAmong(read, [{ address: BUSY.wallet }, { address: "nobody" }]);
  await write((trx) => noteDelegated(trx, [BUSY.wallet]));
  await withdrawals({ read, write });
  const key = { address: BUSY.wallet, sealed: "jwe", replacesDelegation: false };
  await write(async (trx) => {
    // A wallet without a path has its key there.
    await trx.updateTable("wallets").set({ path: "" }).where("address", "=", BUSY.wallet).execute();
    await storeImportedKeys(trx, [key], 1);
  });
  await storedWallets(read, [BUSY.wallet, "nobody"]);
}

async function withdrawals({ read, write }: Tour): Promise<void> {
  const { wallet } = BUSY;
  const signed = { wallet, to: "to", value: 1n, nonce: 0, hash: "0x1", raw: "0x" };
  await write((trx) => recordWithdrawal(trx, signed, undefined, 1));
  await write((trx) => recordWithdrawal(trx, { ...signed, hash: "0x2" }, "0x1", 2));
  for (const [, versions] of await openWithdrawals(read, [wallet]))
    await write((trx) => endWithdrawal(trx, versions, { status: "sent", mined: "0x1" }));
  await noncesAfterWithdrawals(read, [wallet]);
}

async function reencryption({ read, write }: Tour): Promise<void> {
  const pages = await firstPages(everythingSealed(read, 100), 3);
  for (const [first] of pages) if (first !== undefined) await write((trx) => replaceSealed(trx, first, "sealed again"));
  await countOlderFingerprints(read, "new");
}
